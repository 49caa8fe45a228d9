// Package keepalive is an HTTP/1.1 client with one persistent connection. It is not safe for
// concurrent use. A general client would cost the generator as much as the request costs the
// server.
package keepalive
