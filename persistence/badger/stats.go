package badger

import (
	"sync/atomic"
	"time"

	"atelier/actors/durable"
)

// stats are the counters behind Store.Stats.
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

// Stats implements durable.Store.
func (s *Store) Stats() durable.StoreStats {
	count, bytes := s.queue.Load()
	failed := s.broken()
	return durable.StoreStats{
		QueueBatches:    count,
		QueueBytes:      bytes,
		SnapshotBytes:   s.snapshots.Bytes(),
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
		Faults:          s.health.stats(),
	}
}

// ReadOnly implements durable.Store.
func (s *Store) ReadOnly() bool {
	return s.opts.ReadOnly || s.space.low.Load() || s.broken() != nil
}
