package calls

import (
	"sync/atomic"
	"time"

	"atelier/actors/durable"
)

// Stats are the counters of a store's commits.
type Stats struct {
	commits, failedCommits, batches, records, bytes atomic.Uint64
	lastCommit, peakCommit                          atomic.Int64
	snapshots, failedSnapshots                      atomic.Uint64
}

// Committed counts a commit. Only the committing goroutine calls it, so updating the peak needs no
// compare-and-swap loop.
func (s *Stats) Committed(batches, records, bytes int, took time.Duration) {
	s.commits.Add(1)
	s.batches.Add(uint64(batches))
	s.records.Add(uint64(records))
	s.bytes.Add(uint64(bytes))
	s.lastCommit.Store(int64(took))
	s.peakCommit.Store(max(s.peakCommit.Load(), int64(took)))
}

// Failed counts a commit that failed.
func (s *Stats) Failed() { s.failedCommits.Add(1) }

// Snapshot counts a stored or failed snapshot.
func (s *Stats) Snapshot(err error) {
	if err != nil {
		s.failedSnapshots.Add(1)
		return
	}
	s.snapshots.Add(1)
}

// Read returns the counters. A store adds its other statistics.
func (s *Stats) Read() durable.StoreStats {
	return durable.StoreStats{
		Commits:         s.commits.Load(),
		FailedCommits:   s.failedCommits.Load(),
		Batches:         s.batches.Load(),
		Records:         s.records.Load(),
		Bytes:           s.bytes.Load(),
		LastCommit:      time.Duration(s.lastCommit.Load()),
		PeakCommit:      time.Duration(s.peakCommit.Load()),
		Snapshots:       s.snapshots.Load(),
		FailedSnapshots: s.failedSnapshots.Load(),
	}
}
