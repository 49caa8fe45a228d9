// Package bus carries messages between the nodes of a cluster over NATS: a server
// of it inside each node, connected to the others, or one that runs elsewhere.
// It implements durable.Bus.
//
// # Seal
//
// Every message is sealed with AES-256-GCM (seal.go), over the server within and
// over one elsewhere. What comes to a node are commands, with who may give them
// already decided, so a message is heard only if
//
//   - a node that knows the cluster's secret made it, in the session that it has
//     now (peers.go), for this subject and reply subject;
//   - its serial comes for the first time (window.go);
//   - a request or an answer was made for the session that this node has now.
//
// A session lasts from Open to Close. So nothing that was recorded is heard again,
// whichever node was restarted since. Everything else is dropped and counted by
// reason (rejection.go). Keys come from the secret by PBKDF2, and HKDF for each
// session; nodes of another cluster with the same secret have others.
//
// Strangers who reach an outside NATS without the secret still learn the subjects (the
// names of nodes, the ids of actors), sizes and times. They can lose, delay and
// reorder messages, and claim that nobody listens to a subject, which a node takes
// for "not heard" and asks elsewhere. So give the nodes an account of their own.
//
// Measured against the codes that came before (HMAC, in the clear), five runs in
// turns, medians: a question takes 0.6 of the time, a hundred batches of 256 bytes
// 0.9 and of 4 KiB 0.65, with 5 allocations a message in place of 12
// (BenchmarkAsk, BenchmarkTell). AES has instructions of its own, and the buffers
// are used again.
//
// # Links
//
// Nodes are connected to their peers and to nobody else: of two nodes one must have
// the other in its list. A server of NATS passes nothing on from one node to another,
// and what it tells of third ones is of no use to them (server.go). So two nodes that
// do not reach each other stay apart, even if both reach a third: a question between
// them ends with ErrNobody or ErrTimeout, and what one tells does not come to the
// other. What an actor owned by the one does then for clients of the other is said in
// actors/durable (Unheard) and, for operators, in cmd/atelier/deploy/CLUSTER.md.
//
// # Order and loss
//
// Everything that comes is handled by one goroutine, in order, which never waits.
// What it cannot take is lost, as the contract allows: a node that misses something
// reads it from the log. What a node tells others before they know its session is
// lost as well; requests wait until the two know each other. Messages over 512 KiB
// go in parts, because NATS takes one MiB.
package bus
