// Package frames is the client's side of RFC 6455: the opening handshake and
// the frames, as plain functions over bytes, without sockets, goroutines or
// buffers of their own while a connection is idle.
//
// It is strict on purpose. A load test that forgives a server's mistakes hides
// them.
package frames
