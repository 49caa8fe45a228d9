// Package sockets has all WebSockets and event streams of a run on one epoll loop (Linux only).
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
// Post, Do and Stop are safe for concurrent use. Everything else, including all methods of Conn,
// may be used only by the loop's own goroutine: by the Handler, the agenda, and posted functions.
//
// # Order and bounds
//
// Between two batches of ready sockets (at most 128) the loop runs the agenda's due operations, so
// that a fan-out does not delay planned sends. Bytes that do not fit into a socket wait in a buffer
// of the connection; a connection with more than 1 MiB waiting is closed.
//
// # Failure
//
// A connection that ends, for any reason, is reported once to Handler.Closed and is never used
// again; the handler is responsible for reconnecting.
package sockets
