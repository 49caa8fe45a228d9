// Package wire holds how values are written on the wire: the JSON codec with its
// checks, and the forms of times; how the bodies of requests are read within
// limits, and what is left of those that nobody wants, because the next request of
// a connection begins behind it; and how what is sent is compressed.
package wire
