// Package bench is where the load tests of Atelier live; the command
// cmd/atelier-bench runs them. The packages, from the bottom up:
//
//   - pacing: when each operation is due; the open model
//   - latency: histograms
//   - frames: the client's side of RFC 6455
//   - message: the few fields of an event that a delivery needs, without a
//     JSON decoder
//   - sockets: all WebSockets of a run on one epoll loop
//   - api: the REST interface, with cookies and CSRF tokens
//   - server: a server process of our own: start, kill, restart, weigh
//   - audit: what was lost, doubled or out of order; pure
//   - workshop: the scenario, a workshop of some thousand people
//   - uploads: the same while files are uploaded, and while they are not
//   - demo: forty lively people, for somebody who looks; measures nothing
//   - report: the result, for people and for machines
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
