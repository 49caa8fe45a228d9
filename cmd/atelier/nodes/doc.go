// Package nodes runs a server as a node of a cluster. At the start it connects to the other
// nodes and waits for them. While it runs, it checks which nodes it reaches, stops serving
// if there are none, and rejoins after a lost lease. It distributes secrets and the shares
// of token keys to all nodes, and reports their state. A single server has a nil [Node].
//
// Package actors/durable describes actors on several nodes. cmd/atelier/deploy/CLUSTER.md is for
// operators.
package nodes
