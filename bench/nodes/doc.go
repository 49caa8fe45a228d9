// Package nodes runs several servers, started by the load test, that share one database. It
// also runs everything between them: a PostgreSQL in a temporary folder, a shared folder
// for files, and a loopback network that can be cut.
//
// # The network
//
// Each node has a separate address for every other node and for the database, all of them toxiproxy
// proxies in this process. Two nodes connect to each other from both sides, and keep one of the two
// connections. Data from A to B therefore goes upstream through the proxy that A dials, or
// downstream through the proxy that B dials. A cut affects both proxies. It drops bytes without any
// response, like a lost network. Existing connections end when the cut is healed, since they lack
// the swallowed bytes.
//
// Clients reach the nodes directly, so a cut is only between servers. At the beginning and the end
// of a cut, the package searches the kernel's tables for connections that bypass the proxies. If
// there is one, the run fails, because the cut had no effect.
//
// # Ownership
//
// Only one goroutine at a time can use a Cluster, except for the Usage and Inside of its nodes and
// the immutable fields of Network and Database. Child processes end with their parent.
package nodes
