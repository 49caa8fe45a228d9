// Package fanout contains the scenarios with few publishers and many listeners, for any server. In
// fanout, messages are sent. In idle, no messages are sent, and the server's memory is measured. In
// reconnect, all listeners lose their connections simultaneously and reconnect. In slow, some
// listeners stop reading.
//
// The differences between servers are in an [Endpoint]: an address, the protocol
// (broadcast.Dialect) and the clients. [Atelier] makes an Endpoint for a codelab and its attendees,
// and [Generic] makes one from the flags.
//
// The clients run in the workers of a workers.Group. This package plans the run, measures the
// server, and combines the results of the workers.
package fanout
