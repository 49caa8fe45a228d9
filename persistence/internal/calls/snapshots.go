package calls

import (
	"fmt"
	"sync"
	"sync/atomic"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Snapshot is one request to store a state of the log L.
type Snapshot[L Log] struct {
	Log   L
	Seq   uint64
	State []byte
	Keep  uint64
	Done  func(error)
	// replaced is the job that this job replaced. It is set by Add, before Run takes the job.
	replaced *Snapshot[L]
}

// Snapshots is the goroutine that stores snapshots, one after the other. A job passes through the
// writer's queue, so everything that was appended before the job is committed before it. Of a log's
// jobs that have not started, only the newest is executed.
type Snapshots[L Log] struct {
	store func(*Snapshot[L]) error
	over  func(L)
	limit int64
	wake  chan struct{} // capacity 1
	done  chan struct{} // closed when Run returns
	bytes atomic.Int64  // bytes of the states that are queued, pending or being stored

	mu      sync.Mutex
	pending map[L]*Snapshot[L] // guarded by mu
	order   []L                // guarded by mu; the logs with a pending job
	closed  bool               // guarded by mu
}

// NewSnapshots returns a queue that accepts states up to limit bytes, and always at least one
// state. store stores a state. over is called after the Done function of each finished job.
func NewSnapshots[L Log](limit int64, store func(*Snapshot[L]) error, over func(L)) *Snapshots[L] {
	return &Snapshots[L]{
		store: store, over: over, limit: limit,
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		pending: make(map[L]*Snapshot[L]),
	}
}

// Ask reserves space for a state and queues its job with push, after the appends of its log. It
// fails with durable.ErrTooLarge if the state is too large, and with durable.ErrBusy if there is no
// space.
func (n *Snapshots[L]) Ask(job *Snapshot[L], push func(Item[L]) error) error {
	size := int64(len(job.State))
	if size > layout.MaxState {
		return fmt.Errorf("%w: snapshot of %d bytes", durable.ErrTooLarge, size)
	}
	if total := n.bytes.Add(size); total > n.limit && total > size {
		n.bytes.Add(-size)
		return durable.ErrBusy
	}
	err := push(Item[L]{Kind: KindSnapshot, Log: job.Log, Job: job})
	if err != nil {
		n.bytes.Add(-size)
	}
	return err
}

// Bytes returns the size of the states that wait or are being stored.
func (n *Snapshots[L]) Bytes() int64 { return n.bytes.Load() }

// Add accepts a job from the writer.
func (n *Snapshots[L]) Add(job *Snapshot[L]) {
	n.mu.Lock()
	if replaced := n.pending[job.Log]; replaced != nil {
		// The newer snapshot also satisfies callers that wait for the older one.
		n.bytes.Add(-int64(len(replaced.State)))
		replaced.State = nil
		job.replaced = replaced
	} else {
		n.order = append(n.order, job.Log)
	}
	n.pending[job.Log] = job
	n.mu.Unlock()
	n.signal()
}

// Finish reports the result of a job to its owner, and to the owners of the jobs that it replaced.
func (n *Snapshots[L]) Finish(job *Snapshot[L], err error) {
	n.bytes.Add(-int64(len(job.State)))
	for j := job; j != nil; j = j.replaced {
		if j.Done != nil {
			j.Done(err)
		}
		n.over(j.Log)
	}
}

func (n *Snapshots[L]) signal() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Close waits until the pending jobs are done. The writer must have ended.
func (n *Snapshots[L]) Close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.signal()
	<-n.done
}

// Run stores snapshots until Close.
func (n *Snapshots[L]) Run() {
	defer close(n.done)
	for {
		job, ok := n.take()
		if !ok {
			return
		}
		n.Finish(job, n.store(job))
	}
}

func (n *Snapshots[L]) take() (*Snapshot[L], bool) {
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
