// Package broadcast runs one worker's share of a publish-subscribe load: some thousand subscribers
// and possibly publishers on one epoll loop. It is independent of any server. A [Dialect] describes
// the protocol as data: the first message, the sent messages, and a regular expression that finds
// the sender's stamp in received messages. The same code therefore measures all servers.
//
// # Time
//
// All times of a [Job] and of orders are on the run's timeline, which all workers share: durations
// since the start of the coordinator. A message has its planned sending time, sealed together with
// its number, so any receiver detects a change.
//
// # The audit
//
// Every message has a unique number: n·publishers + publisher. Each subscriber must receive each
// publisher's messages once, in rising order, without gaps ([track]). This takes a few bytes per
// subscriber and publisher, however long the run is.
//
// # Ownership
//
// An [Engine] is used by its worker's goroutine. All data about clients and all counts belong to
// the goroutine of the socket loop; orders are passed to it with Loop.Do.
package broadcast
