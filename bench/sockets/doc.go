// Package sockets runs all WebSockets and event streams of a run on one epoll loop (Linux only).
//
// # Why one loop
//
// Ten thousand goroutines that each wait for a socket cost the generator more CPU time than the
// server needs to serve them. One goroutine that reads all ready sockets takes about 2 us per
// delivery, nearly all of it in read(2). Its callbacks need no lock, because this goroutine owns
// the whole state of a scenario.
//
// # Concurrency
//
// Post, Do and Stop are safe for concurrent use. Everything else, including all methods of Conn,
// must be used only on the loop's own goroutine, which runs the Handler, the agenda, and posted
// functions.
//
// # Order and bounds
//
// Between two batches of ready sockets (at most 128) the loop runs the agenda's due operations, so
// that a fan-out does not delay planned sends. Bytes that do not fit into a socket wait in the
// connection's buffer. A connection with more than 1 MiB waiting is closed.
//
// # Failure
//
// A connection that ends is reported once to Handler.Closed, unless Conn.Close or Loop.Stop ended
// it. It is never used again. The handler is responsible for reconnecting.
package sockets
