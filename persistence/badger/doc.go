// Package badger implements durable.Journal on Badger v4: logs of actors,
// their snapshots, and rows, in one folder.
//
// # What it owns
//
// A Store owns its folder, the high-water mark beside it, and four goroutines, which Close stops
// and waits for. The writer is the only one that commits batches. Another stores snapshots. A third
// watches the free space and syncs the mark. The fourth removes the parts of replaced large values,
// and verifies the tables once per day. The layout of the keys is in DESIGN.md.
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
// Done(nil) means that the bytes went through fsync. After a failed batch every later batch of its
// handle also fails, and the actor must open a new handle. If a write to the disk fails, or Badger
// fails in the background, the state of the store is unknown. The store then permits only reads
// until the next start (Stats.Failed). While the disk is nearly full, the store refuses writes,
// except purges and urgent appends. Reading damaged or unreadable bytes returns durable.ErrCorrupt.
// Open verifies every file and returns ErrDamaged for damage that a crash does not explain.
package badger
