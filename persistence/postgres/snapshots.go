package postgres

import (
	"sync"
	"sync/atomic"
)

// snapshotJob is one request to store a state.
type snapshotJob struct {
	log   *actorLog
	seq   uint64
	state []byte
	keep  uint64
	done  func(error)
	// replaced is the job that this one was done instead of. Set by add,
	// before run takes the job.
	replaced *snapshotJob
}

// snapshots is the goroutine that stores snapshots, one after the other. A job
// comes to it through the writer's queue, when everything appended before it is
// committed. Of the jobs of one log that have not started only the newest is
// done.
type snapshots struct {
	store *Store
	wake  chan struct{} // capacity 1
	done  chan struct{} // closed when run returns
	bytes atomic.Int64  // states queued, pending and in work

	mu      sync.Mutex
	pending map[*actorLog]*snapshotJob // guarded by mu
	order   []*actorLog                // guarded by mu; who has a pending job
	closed  bool                       // guarded by mu
}

func newSnapshots(s *Store) *snapshots {
	return &snapshots{
		store:   s,
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		pending: make(map[*actorLog]*snapshotJob),
	}
}

// add takes a job over from the writer.
func (n *snapshots) add(job *snapshotJob) {
	n.mu.Lock()
	if replaced := n.pending[job.log]; replaced != nil {
		// Whoever waits for the older one has it when the newer one is there.
		n.bytes.Add(-int64(len(replaced.state)))
		replaced.state = nil
		job.replaced = replaced
	} else {
		n.order = append(n.order, job.log)
	}
	n.pending[job.log] = job
	n.mu.Unlock()
	n.signal()
}

func (n *snapshots) finish(job *snapshotJob, err error) {
	n.bytes.Add(-int64(len(job.state)))
	for j := job; j != nil; j = j.replaced {
		if j.done != nil {
			j.done(err)
		}
		j.log.leave()
	}
}

func (n *snapshots) signal() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// close lets run return once the pending jobs are done. The writer has ended.
func (n *snapshots) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.signal()
}

func (n *snapshots) run() {
	defer close(n.done)
	for {
		job, ok := n.take()
		if !ok {
			return
		}
		err := n.store.storeSnapshot(job)
		n.store.stats.snapshot(err)
		n.finish(job, err)
	}
}

func (n *snapshots) take() (*snapshotJob, bool) {
	for {
		n.mu.Lock()
		if len(n.order) > 0 {
			log := n.order[0]
			n.order = n.order[1:]
			job := n.pending[log]
			delete(n.pending, log)
			n.mu.Unlock()
			return job, true
		}
		closed := n.closed
		n.mu.Unlock()
		if closed {
			return nil, false
		}
		<-n.wake
	}
}
