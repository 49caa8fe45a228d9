package durable

import (
	"cmp"
	"io"
	"time"
)

// Store is the journal of a server. The configuration selects the implementation ([storage]
// backend); everything above uses this interface. Safe for concurrent use.
type Store interface {
	Journal

	// StreamID identifies the stream of changes in the store, as 32 hex digits. It survives
	// restarts, but changes when a backup is restored, because readers cannot continue from
	// positions of the earlier stream.
	StreamID() string

	// ReadOnly reports whether writes are refused. It is cheap enough to call before each write.
	ReadOnly() bool

	// Stats returns the current statistics. It is cheap, and can be called even after Close.
	Stats() StoreStats

	// Backup writes the consistent state at the time of the call to w, while the store continues to
	// serve.
	Backup(w io.Writer) error

	// Scrub verifies all stored data and calls bad for each damaged item.
	Scrub(bad func(what string)) error

	// Close commits queued batches and closes the store. Further calls do nothing.
	Close() error
}

// StoreLimits bounds the queues of any kind of store. A zero field selects its default.
type StoreLimits struct {
	// QueueBytes bounds the size of the batches that wait to be committed. Beyond it, Append fails
	// with ErrBusy. A batch is always accepted if the queue is empty. Default 64 MiB.
	QueueBytes int64
	// SnapshotQueueBytes bounds the size of the waiting snapshots in the same way. Default 128 MiB.
	SnapshotQueueBytes int64
}

// SetDefaults sets zero fields to their defaults.
func (l *StoreLimits) SetDefaults() {
	l.QueueBytes, l.SnapshotQueueBytes = cmp.Or(l.QueueBytes, 64<<20), cmp.Or(l.SnapshotQueueBytes, 128<<20)
}

// StoreStats contains a store's statistics. Counters start when the store is opened.
type StoreStats struct {
	QueueBatches  int   // queued or being committed
	QueueBytes    int64 // bytes of these batches
	SnapshotBytes int64 // bytes of the snapshots waiting to be stored

	Commits       uint64 // committed transactions
	FailedCommits uint64
	Batches       uint64 // committed batches, including appends of rows only
	Records       uint64
	Bytes         uint64
	LastCommit    time.Duration
	PeakCommit    time.Duration

	Snapshots       uint64
	FailedSnapshots uint64

	// FreeBytes is the free space of the disk with the data, or 0 if the data is not on a disk of
	// this machine.
	FreeBytes uint64
	// ReadOnly means that writes are refused, for example because the store was opened read-only or
	// failed, or because the disk is nearly full.
	ReadOnly bool
	// Failed is the reason why the store accepts no writes until the next start. Normally it is
	// nil.
	Failed error
	// Faults counts failures of the disk.
	Faults StoreFaults
}

// StoreFaults counts failures of a disk under a store, by operation.
type StoreFaults struct {
	Read       uint64 // failed reads, and reads of damaged data
	Write      uint64 // failed commits
	Sync       uint64 // failures to sync folders and the high-water mark
	Background uint64 // failures of background work: flushing, compacting, cleaning up
}
