// Package bench is where the load tests of Atelier live; the command
// cmd/atelier-bench runs them. The packages, from the bottom up:
//
// Tools:
//
//   - pacing: when each operation is due; the open model
//   - latency: histograms
//   - frames: the client's side of RFC 6455, and event streams
//   - message: the few fields of an event that a delivery needs, without a
//     JSON decoder
//   - sockets: all connections of a worker on one epoll loop
//   - keepalive: one HTTP connection, for one goroutine
//   - tunnel: TLS
//   - api: the REST interface, with cookies and CSRF tokens
//   - register: many attendees at once
//   - server: a server process of our own: start, kill, restart, weigh
//   - nodes: several of them on one database, and a network that can be cut
//   - faults: what is done to them, when, and how long it is felt
//   - audit: what was lost, doubled or out of order; pure
//   - timeline: what happened in each second
//
// Scenarios:
//
//   - fanout: some publish and many listen, on any server; its clients are in
//     broadcast, its processes in workers
//   - workshop: some thousand people, and what is done to their server
//   - uploads: the same while files are uploaded, and while they are not
//   - clones: the same while hundreds clone the code of the steps, and while nobody does
//   - rest: reads and durable writes
//   - tokens: tokenize and detokenize
//   - demo: forty lively people, for somebody who looks; measures nothing
//
// Results:
//
//   - report: for people, for machines, as a page
//   - compare: whether two sets of runs differ
//   - profiles: loads with a name
//
// # How it measures
//
// Operations are planned beforehand and never wait for each other; a latency
// counts from the planned time, so a server that stops for 200 ms is charged
// for every operation that was due in them. Quantiles come from one merged
// histogram over all deliveries. How late the generator itself was is measured
// too, and a run in which it was late is invalid: then the numbers tell about
// the generator.
package bench
