// Package postgres implements durable.Shared on PostgreSQL 15 or newer: actor logs and snapshots,
// rows, and the ownership of actors by nodes. All data is in one schema of one database.
//
// # What it owns
//
// A Store owns its connections, its node's lease, and its goroutines, which Close stops and waits
// for. The writer is the only goroutine that commits batches. The others store snapshots, renew the
// lease, remove expired rows, and serve one Feed each. A store without a node name also has a
// goroutine that rejoins after a lost lease. The tables are in migrations, and DESIGN.md explains
// them.
//
// # Order
//
// Batches of one log are committed, and their Done functions called, in the order of the Append
// calls. There is no order between two logs. A batch and its rows are in one transaction, which
// usually contains the batches of many logs.
//
// # Back-pressure
//
// Append never blocks. The size of the queue is bounded in bytes; beyond the bound, Append returns
// durable.ErrBusy. Snapshots have a separate bound.
//
// # Failure
//
// Done(nil) means that the database has committed, and that the commit is on the disks of the
// server and of the required standbys (synchronous_commit). After a broken connection the writer
// reconnects and asks the database for the outcome of the commit in flight.
// It sends the commit again only if the database has not applied it. The writer tries this as long
// as the lease is valid. After the lease is lost, everything fails with durable.ErrFenced, until
// Rejoin. It is then unknown whether the database applied the last commit. If it did, the next node
// that opens the log reads that commit. An actor that reads damaged bytes gets durable.ErrCorrupt.
package postgres
