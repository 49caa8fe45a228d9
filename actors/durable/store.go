package durable

import (
	"cmp"
	"io"
	"time"
)

// Store is a journal as a server runs on it. Which one is a matter of the
// configuration ([storage] backend); everything above sees this interface.
// Safe for concurrent use.
type Store interface {
	Journal

	// StreamID names the stream of changes that the store holds, as 32 hex
	// digits. It survives restarts and is another one when a backup was
	// restored. A reader of another stream cannot go on from its position.
	StreamID() string

	// ReadOnly reports whether writes are refused. It is cheap enough to be
	// asked before each of them.
	ReadOnly() bool

	// Stats returns the present numbers. It is cheap and may be called after
	// Close.
	Stats() StoreStats

	// Backup writes one consistent state to w, the one at the moment of the
	// call, while the store goes on serving.
	Backup(w io.Writer) error

	// Scrub reads everything and calls bad for each damaged item.
	Scrub(bad func(what string)) error

	// Close commits what is queued and ends the store. A second call does
	// nothing.
	Close() error
}

// StoreLimits bound the queues of a store of any kind. The zero value of a field takes the
// default.
type StoreLimits struct {
	// QueueBytes bounds the batches that wait to be committed; beyond it Append gives
	// ErrBusy. A batch that meets an empty queue always enters. Default 64 MiB.
	QueueBytes int64
	// SnapshotQueueBytes bounds the snapshots that wait, in the same way. Default 128 MiB.
	SnapshotQueueBytes int64
}

// SetDefaults gives the fields that are zero their defaults.
func (l *StoreLimits) SetDefaults() {
	l.QueueBytes, l.SnapshotQueueBytes = cmp.Or(l.QueueBytes, 64<<20), cmp.Or(l.SnapshotQueueBytes, 128<<20)
}

// StoreStats is a picture of a store; counters count from its opening.
type StoreStats struct {
	QueueBatches  int   // queued or being committed
	QueueBytes    int64 // of them
	SnapshotBytes int64 // states that wait to be stored

	Commits       uint64 // transactions that are on disk
	FailedCommits uint64
	Batches       uint64 // committed batches, rows alone included
	Records       uint64
	Bytes         uint64
	LastCommit    time.Duration
	PeakCommit    time.Duration

	Snapshots       uint64
	FailedSnapshots uint64

	// FreeBytes is the free space of the disk with the data; 0 for data in memory.
	FreeBytes uint64
	// ReadOnly means that writes are refused: opened so, the disk is nearly
	// full, or it failed.
	ReadOnly bool
	// Failed is why writing ended until the next start; nil normally.
	Failed error
	// Faults counts what the disk failed to do.
	Faults StoreFaults
}

// StoreFaults counts failures of a disk under a store, by operation.
type StoreFaults struct {
	Read       uint64 // failed reads, and reads of damaged data
	Write      uint64 // committing
	Sync       uint64 // syncing names and the high-water mark
	Background uint64 // background work: flushing, compacting, cleaning up
}
