// Package nodes runs a server as a node of a cluster. At startup the node connects to the other
// nodes and waits for them. While it runs, it checks which nodes it can reach, stops serving if it
// reaches none, and rejoins after a lost lease. The package distributes secrets and the shares of
// token keys to all nodes, and reports the state of the nodes. A single server has a nil [Node].
//
// Package actors/durable describes actors on several nodes. cmd/atelier/deploy/CLUSTER.md is the
// manual for operators.
package nodes
