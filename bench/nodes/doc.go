// Package nodes runs several servers of a load test's own that share one
// database, and everything between them: a PostgreSQL on a temporary folder, a
// shared folder for files, and a loopback network that can be cut.
//
// # The network
//
// Each node has an address of its own for every other node and for the database,
// all of them toxiproxy proxies in this process. Nodes connect to each other
// from both sides and keep either connection, so what goes from A to B travels
// upstream through the proxy that A dials and downstream through the one that B
// dials; a cut closes both. A cut swallows bytes and answers nothing, as a lost
// network does; connections that were made before end when it is healed, since
// what was swallowed is missing in them.
//
// Clients reach the nodes directly: a cut is between servers. When it begins and
// when it ends the kernel is asked for connections past the proxies; with one the
// run fails, since nothing was cut.
//
// # Ownership
//
// A Cluster is for one goroutine at a time, but for the Usage and Inside of its
// nodes and what Network and Database say of themselves. Children die with their
// parent.
package nodes
