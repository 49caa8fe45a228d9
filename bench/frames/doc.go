// Package frames implements the client side of RFC 6455: the opening handshake and the frames. It
// consists of plain functions over bytes, without sockets and goroutines. An idle connection needs
// no buffer of this package.
//
// It is strict on purpose, because a load test that tolerates a server's errors hides them.
package frames
