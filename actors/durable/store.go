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
	// restarts, but differs after a backup was restored. After that, a reader cannot continue from
	// its position.
	StreamID() string

	// ReadOnly reports whether writes are refused. It is cheap enough to call before each write.
	ReadOnly() bool

	// Stats returns the current statistics. It is cheap, and can be called even after Close.
	Stats() StoreStats

	// Backup writes the consistent state at the time of the call to w, while the store continues to
	// serve.
	Backup(w io.Writer) error

	// Scrub verifies everything and calls bad for each damaged item.
	Scrub(bad func(what string)) error

	// Close commits queued batches and closes the store. Further calls do nothing.
	Close() error
}

// StoreLimits bounds the queues of any kind of store. Zero fields have their defaults.
type StoreLimits struct {
	// QueueBytes bounds the batches that wait to be committed; beyond it Append fails with ErrBusy.
	// A batch is always accepted if the queue is empty. Default 64 MiB.
	QueueBytes int64
	// SnapshotQueueBytes bounds the waiting snapshots in the same way. Default 128 MiB.
	SnapshotQueueBytes int64
}

// SetDefaults sets zero fields to their defaults.
func (l *StoreLimits) SetDefaults() {
	l.QueueBytes, l.SnapshotQueueBytes = cmp.Or(l.QueueBytes, 64<<20), cmp.Or(l.SnapshotQueueBytes, 128<<20)
}

// StoreStats contains a store's statistics. Counters count from the opening of the store.
type StoreStats struct {
	QueueBatches  int   // queued or being committed
	QueueBytes    int64 // bytes of these batches
	SnapshotBytes int64 // states waiting to be stored

	Commits       uint64 // transactions on disk
	FailedCommits uint64
	Batches       uint64 // committed batches, including appends of rows only
	Records       uint64
	Bytes         uint64
	LastCommit    time.Duration
	PeakCommit    time.Duration

	Snapshots       uint64
	FailedSnapshots uint64

	// FreeBytes is the free space of the disk with the data, or 0 for data in memory.
	FreeBytes uint64
	// ReadOnly means that writes are refused, because the store was opened read-only, the disk is
	// nearly full, or it failed.
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
	Sync       uint64 // syncing names and the high-water mark
	Background uint64 // background work: flushing, compacting, cleaning up
}
