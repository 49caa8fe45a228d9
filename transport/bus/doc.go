// Package bus carries messages between the nodes of a cluster over NATS: an embedded server per
// node, connected to the others, or an external server. It implements durable.Bus.
//
// # Seal
//
// Every message is sealed with AES-256-GCM (seal.go), over the embedded server and over an
// external one. Messages are commands whose permissions were already checked, so a message
// is accepted only if
//
//   - a node that knows the cluster's secret made it, in its current session (peers.go), for this
//     subject and reply subject;
//   - its serial arrives for the first time (window.go);
//   - a request or an answer was made for this node's current session.
//
// A session lasts from Open to Close. So recorded messages are never accepted again, whichever node
// was restarted since. Everything else is dropped and counted by reason (rejection.go). Keys are
// derived from the secret by PBKDF2, and by HKDF per session; the nodes of another cluster with the
// same secret have other keys.
//
// Strangers who reach an external NATS without the secret still learn the subjects (the names of
// nodes, the ids of actors), sizes and times. They can drop, delay and reorder messages, and claim
// that nobody listens to a subject, which a node takes for "not heard" and retries elsewhere. So
// give the nodes a separate account.
//
// Compared with the earlier format (HMAC, unencrypted), a request takes 0.6 of the time. A hundred
// batches take 0.9 with 256 bytes and 0.65 with 4 KiB, and a message 5 allocations instead of 12.
// These are medians of five alternating runs (BenchmarkAsk, BenchmarkTell). Processors have
// instructions for AES, and the buffers are reused.
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
