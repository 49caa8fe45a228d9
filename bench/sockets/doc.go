// Package sockets keeps all WebSockets and event streams of a run on one epoll
// loop (Linux only).
//
// # Why one loop
//
// Ten thousand goroutines that each wait for a socket cost the generator more processor
// time than the server needs to serve them. One goroutine that reads all ready sockets
// takes about 2 us per delivery, nearly all of it in read(2). Its callbacks need no lock,
// since the whole state of a scenario belongs to it.
//
// # Concurrency
//
// Post, Do and Stop may be called from any goroutine. Everything else, with all
// methods of Conn, is for the loop's own goroutine: that is for the Handler, the
// agenda, and functions that were posted.
//
// # Order and bounds
//
// Between two batches of ready sockets (at most 128) the loop runs what the
// agenda has due, so that planned sends are not late because of a fan-out. Bytes
// that do not fit into a socket wait in a buffer of the connection; a connection
// with more than 1 MiB waiting is closed.
//
// # Failure
//
// A connection that ends, in whatever way, is reported once to Handler.Closed
// and is never used again; reconnecting is the handler's business.
package sockets
