package badger

import (
	"sync/atomic"
	"time"
)

// Stats is a picture of the store; counters count from Open.
type Stats struct {
	QueueBatches  int   // queued or being committed
	QueueBytes    int64 // of them
	SnapshotBytes int64 // states that wait to be stored

	Commits       uint64 // transactions of the group-commit writer that are on disk
	FailedCommits uint64
	Batches       uint64 // committed batches, rows alone included
	Records       uint64
	Bytes         uint64
	LastCommit    time.Duration
	PeakCommit    time.Duration

	Snapshots       uint64
	FailedSnapshots uint64

	FreeBytes uint64
	// ReadOnly says that writes are refused: opened so, the disk is nearly
	// full, or it failed.
	ReadOnly bool
	// Failed is why writing ended until the next start; nil normally.
	Failed error
}

// stats are the counters behind Stats.
type stats struct {
	commits, failedCommits, batches, records, bytes atomic.Uint64
	lastCommit, peakCommit                          atomic.Int64
	snapshots, failedSnapshots                      atomic.Uint64
}

// committed is called by the writer only, so the peak needs no loop.
func (s *stats) committed(g *group, took time.Duration, err error) {
	if err != nil {
		s.failedCommits.Add(1)
		return
	}
	s.commits.Add(1)
	s.batches.Add(uint64(g.batches))
	s.records.Add(uint64(g.records))
	s.bytes.Add(uint64(g.bytes))
	s.lastCommit.Store(int64(took))
	s.peakCommit.Store(max(s.peakCommit.Load(), int64(took)))
}

func (s *stats) snapshot(err error) {
	if err != nil {
		s.failedSnapshots.Add(1)
		return
	}
	s.snapshots.Add(1)
}

// Stats returns the present numbers. It is cheap and may be called after Close.
func (s *Store) Stats() Stats {
	count, bytes := s.queue.load()
	failed := s.broken()
	return Stats{
		QueueBatches:    count,
		QueueBytes:      bytes,
		SnapshotBytes:   s.snapshots.bytes.Load(),
		Commits:         s.stats.commits.Load(),
		FailedCommits:   s.stats.failedCommits.Load(),
		Batches:         s.stats.batches.Load(),
		Records:         s.stats.records.Load(),
		Bytes:           s.stats.bytes.Load(),
		LastCommit:      time.Duration(s.stats.lastCommit.Load()),
		PeakCommit:      time.Duration(s.stats.peakCommit.Load()),
		Snapshots:       s.stats.snapshots.Load(),
		FailedSnapshots: s.stats.failedSnapshots.Load(),
		FreeBytes:       s.space.free.Load(),
		ReadOnly:        s.ReadOnly(),
		Failed:          failed,
	}
}

// ReadOnly reports whether writes are refused. It is cheap enough to be asked
// before each of them.
func (s *Store) ReadOnly() bool {
	return s.opts.ReadOnly || s.space.low.Load() || s.broken() != nil
}
