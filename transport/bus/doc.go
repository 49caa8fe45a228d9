// Package bus carries messages between the nodes of a cluster over NATS: an embedded server per
// node, connected to the other nodes, or an external server. It implements durable.Bus.
//
// # Seal
//
// Every message is sealed with AES-256-GCM (seal.go), over the embedded server and over an
// external one. Messages are commands whose permissions were already checked. Except for the
// greetings, in which nodes exchange their sessions, a message is therefore accepted only if
//
//   - a node that has the cluster's secret made it, in its current session (peers.go), for this
//     subject and reply subject;
//   - its serial arrives for the first time (window.go);
//   - if it is a request or an answer, it was made for this node's current session.
//
// A session lasts from Open to Close. Recorded messages are therefore never accepted again, even
// after a restart of either node. Everything else is dropped and counted by reason (rejection.go).
// Keys are derived from the secret by PBKDF2, and by HKDF per session; another cluster with the
// same secret has different keys.
//
// Strangers who reach an external NATS without the secret can still read the subjects (node names,
// actor ids), sizes and times. They can drop, delay and reorder messages, and claim that nobody
// listens to a subject. A node treats this claim as "not delivered" and retries elsewhere. For
// these reasons, give the nodes a separate account.
//
// Compared with the earlier format (HMAC, unencrypted), a request takes 0.6 of the time. A hundred
// batches take 0.9 of the time with 256 bytes and 0.65 with 4 KiB, and a message takes 5
// allocations instead of 12. These are medians of five alternating runs (BenchmarkAsk,
// BenchmarkTell). The gain is due to the CPU's AES instructions and to reused buffers.
//
// # Links
//
// Nodes are connected to their peers and to nobody else: one of two nodes must have the other in
// its list. The NATS server does not forward messages between nodes, and the address that it
// announces to third nodes cannot be dialed (server.go). Two nodes without a connection therefore
// stay separate, even if each of them reaches a third node. A request between them ends with
// ErrNobody or ErrTimeout, and events from one do not reach the other. actors/durable
// (OwnerUnreachable), and for operators cmd/atelier/deploy/CLUSTER.md, describe the effect on
// clients.
//
// # Order and loss
//
// One goroutine handles all messages in order and never waits. Messages beyond its capacity are
// lost, as the contract allows: a node reads missing events from the log. Events that a node sends
// before other nodes have its session are also lost. Requests wait until the two nodes have each
// other's session. Messages over 512 KiB are sent in parts, because NATS accepts at most one MiB.
package bus
