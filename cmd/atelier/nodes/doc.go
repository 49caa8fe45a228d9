// Package nodes is a server as one of several: it connects to the other nodes and
// waits for them at the start, finds out whom it reaches and stands aside when that
// is nobody, comes back when it has lost its lease, sees to it that all have the
// same secrets, brings the shares of token keys to each of them, and says how the
// nodes are. Who reads about one server need not know it: a nil [Node] stands alone.
//
// What actors do on several nodes is in actors/durable; cmd/atelier/deploy/CLUSTER.md
// is for operators.
package nodes
