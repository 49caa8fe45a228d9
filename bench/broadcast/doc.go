// Package broadcast is one worker's share of a load of published messages: some
// thousand subscribers and perhaps publishers on one epoll loop. It knows no
// server. How to speak with one is data, a [Dialect]: what is said first, what is
// sent, and a regular expression that finds the sender's stamp in what comes
// back. So all servers are measured by the same code.
//
// # Time
//
// All times of a [Job] and of orders are on the run's timeline, which all workers
// share: durations since the start of the coordinator. A message carries the
// planned time of its sending, sealed together with its number: what a server
// changes is known wherever it arrives.
//
// # The audit
//
// Every message has a number that no other has: n·publishers + publisher. Each
// subscriber must get each publisher's messages once, in rising order, without
// gaps ([track]). That needs a few bytes for each subscriber and publisher,
// however long the run is.
//
// # Ownership
//
// An [Engine] is driven by its worker's goroutine. Everything about clients and
// counts belongs to the goroutine of the socket loop; orders reach it with
// Loop.Do.
package broadcast
