// Package wire encodes values for the wire: the JSON codec with its checks, and the forms of times.
// It reads request bodies within limits, and skips the rest of an unwanted body, because the
// connection's next request begins after it. It also compresses responses.
package wire
