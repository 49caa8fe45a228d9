// Package wire encodes values for the wire: the JSON codec with its checks, and the forms of
// times. It reads the bodies of requests within limits, and skips the rest of an unwanted body,
// because the connection's next request begins after it. It also compresses answers.
package wire
