// Package postgres implements durable.Shared on PostgreSQL 15 or newer: logs of actors, their
// snapshots, rows, and the ownership of actors by nodes, in one schema of one database.
//
// # What it owns
//
// A Store owns its connections, its node's lease, and its goroutines, which Close stops and
// waits for. The writer is the only goroutine that commits batches. The others store
// snapshots, renew the lease, remove expired rows, and serve one Feed each. Without a node
// name there is one more, which starts over after a lost lease. Tables are in migrations,
// their reasons in DESIGN.md.
//
// # Order
//
// Batches of one log are committed in the order of their Append calls, and their Done calls have
// the same order. There is no order between two logs. A batch and its rows are in one transaction,
// which usually has the batches of many logs.
//
// # Back-pressure
//
// Append never blocks. The queue is bounded in bytes; beyond the bound Append returns
// durable.ErrBusy. Snapshots have a separate bound.
//
// # Failure
//
// Done(nil) means that the database has committed, with synchronous_commit on. A broken connection
// is reopened, and the database is asked for the outcome of the commit in flight. It is sent again
// only if it was not applied. This continues while the lease is valid. After a lost lease
// everything fails with durable.ErrFenced, until Rejoin. The last commit may then have been
// applied; the next node that opens the log includes it. Damaged bytes return durable.ErrCorrupt to
// their actor.
package postgres
