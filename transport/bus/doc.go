// Package bus carries messages between the nodes of a cluster over NATS: a server
// of it inside each node, connected to the others, or one that runs elsewhere.
// It implements durable.Bus.
//
// # Seal
//
// Every message is sealed with AES-256-GCM (seal.go), over the embedded server and over an
// external one. Messages are commands whose permissions were already checked, so a message
// is accepted only if
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
// Compared with the earlier format (HMAC, unencrypted), a question takes 0.6 of the time. A
// hundred batches take 0.9 with 256 bytes and 0.65 with 4 KiB, and a message 5 allocations
// instead of 12. These are medians of five alternating runs (BenchmarkAsk, BenchmarkTell).
// Processors have instructions for AES, and the buffers are reused.
//
// # Links
//
// Nodes are connected to their peers and to nobody else: of two nodes one must have the
// other in its list. The NATS server does not forward messages between nodes, and its
// notices about third nodes are ignored (server.go). So two nodes without a connection stay
// separate, even if both reach a third. A question between them ends with ErrNobody or
// ErrTimeout, and events of one do not reach the other. actors/durable (Unheard), and for
// operators cmd/atelier/deploy/CLUSTER.md, describe the effect on clients.
//
// # Order and loss
//
// One goroutine handles all messages in order and never waits. Messages beyond its capacity
// are lost, as the contract allows: a node reads missing events from the log. Events that a
// node sends before others know its session are lost, too; requests wait until the two
// nodes know each other. Messages over 512 KiB go in parts, because NATS takes one MiB.
package bus
