// Package keepalive is an HTTP/1.1 client of one connection that is kept alive,
// for one goroutine. A general client would cost the generator as much as the
// request costs the server.
package keepalive
