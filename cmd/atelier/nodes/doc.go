// Package nodes runs a server as a node of a cluster. At startup the node connects to the other
// nodes and waits for them. While it runs, it checks which nodes it can reach, and rejoins after a
// lost lease. If it reaches none, it leaves serving to the others, unless it must serve alone. The
// package distributes secrets and the shares of token keys to all nodes, and reports the state of
// the nodes. A single server has a nil [Node].
//
// Package actors/durable describes actors on several nodes. cmd/atelier/deploy/CLUSTER.md is the
// manual for operators.
package nodes
