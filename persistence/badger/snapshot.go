package badger

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
)

// snapshotJob is one request to store a state.
type snapshotJob struct {
	log   *actorLog
	seq   uint64
	state []byte
	keep  uint64
	done  func(error)
}

// snapshots is the goroutine that stores snapshots, one after the other. A job
// comes to it through the writer's queue, when everything appended before it
// is committed. Of the jobs of one log that have not started only the newest
// is done.
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

// Snapshot implements durable.Log. done is called from the goroutine that
// stores snapshots.
func (l *actorLog) Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error {
	if l.closed {
		return durable.ErrClosed
	}
	s := l.store
	if err := s.writable(); err != nil {
		return err
	}
	size := int64(len(state))
	if size > maxState {
		return fmt.Errorf("%w: snapshot of %d bytes", durable.ErrTooLarge, size)
	}
	if total := s.snapshots.bytes.Add(size); total > s.opts.SnapshotQueueBytes && total > size {
		s.snapshots.bytes.Add(-size)
		return durable.ErrBusy
	}
	job := &snapshotJob{log: l, seq: seq, state: state, keep: keep, done: done}
	if err := s.queue.push(item{kind: kindSnapshot, log: l, job: job}); err != nil {
		s.snapshots.bytes.Add(-size)
		return err
	}
	return nil
}

// add takes a job over from the writer.
func (n *snapshots) add(job *snapshotJob) {
	n.mu.Lock()
	replaced := n.pending[job.log]
	n.pending[job.log] = job
	if replaced == nil {
		n.order = append(n.order, job.log)
	}
	n.mu.Unlock()
	if replaced != nil {
		n.finish(replaced, nil)
	}
	n.signal()
}

func (n *snapshots) finish(job *snapshotJob, err error) {
	n.bytes.Add(-int64(len(job.state)))
	if job.done != nil {
		job.done(err)
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

// Steps of storing a snapshot, for tests that crash between them.
const (
	stepPart     = "part"
	stepHead     = "head"
	stepTruncate = "truncate"
	stepSweep    = "sweep"
)

// storeSnapshot writes the parts, then the head, and only then removes what
// the new snapshot makes superfluous. Wherever it stops, one whole snapshot is
// there, and the records behind it.
func (s *Store) storeSnapshot(job *snapshotJob) error {
	actor := job.log.actor
	defer s.locks.lock(actor)()
	// Under the lock no newer handle can be opening, so a new incarnation
	// never sees the log shrink between its Load and its Replay.
	if job.log.fenced.Load() {
		return durable.ErrFenced
	}
	var old head
	err := s.db.View(func(txn *badgerdb.Txn) (err error) {
		old, err = readHead(txn, actor)
		return err
	})
	if err != nil && !errors.Is(err, durable.ErrNotFound) {
		return err
	}
	if job.seq < old.seq {
		return fmt.Errorf("badger: snapshot of %s at %d is older than the stored one at %d", actor, job.seq, old.seq)
	}

	h := newHead(job.seq, old.id+1, job.state)
	if err := s.writeParts(actor, h, job.state); err != nil {
		return fmt.Errorf("snapshot of %s: %w", actor, err)
	}
	b := bulk{store: s}
	if err := s.writeHead(&b, actor, h); err != nil {
		return fmt.Errorf("snapshot of %s: %w", actor, err)
	}
	if err := s.truncate(&b, job.log, min(job.seq, job.keep)); err != nil {
		return fmt.Errorf("truncate %s: %w", actor, err)
	}
	if err := s.sweepParts(&b, actor, h); err != nil {
		return fmt.Errorf("remove old snapshot parts of %s: %w", actor, err)
	}
	return b.flush()
}

func (s *Store) writeParts(actor string, h head, state []byte) error {
	for part := range h.parts {
		if err := s.step(stepPart); err != nil {
			return err
		}
		b := bulk{store: s}
		key := partKey(actor, h.id, uint32(part))
		piece := state[part*partBytes : min(h.length, (part+1)*partBytes)]
		if err := b.add(key, sealed(key, piece)); err != nil {
			return err
		}
		if err := b.flush(); err != nil {
			return err
		}
	}
	return nil
}

// writeHead queues the head. What b deletes afterwards may share the head's
// transaction but never comes before it.
func (s *Store) writeHead(b *bulk, actor string, h head) error {
	if err := s.step(stepHead); err != nil {
		return err
	}
	key := headKey(actor)
	return b.add(key, sealed(key, h.encode()))
}

// truncate removes the chunks whose last seq is at most limit.
func (s *Store) truncate(b *bulk, l *actorLog, limit uint64) error {
	if err := s.step(stepTruncate); err != nil {
		return err
	}
	return s.db.View(func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: l.prefix})
		defer it.Close()
		// A chunk ends where the next begins, so only the last one is read.
		var previous []byte
		for it.Rewind(); it.Valid(); it.Next() {
			first, err := chunkSeq(it.Item().Key(), len(l.prefix))
			if err != nil {
				return err
			}
			if first > limit+1 {
				break
			}
			if previous != nil {
				if err := b.add(previous, nil); err != nil {
					return err
				}
			}
			previous = it.Item().KeyCopy(nil)
		}
		if previous == nil {
			return nil
		}
		last, err := s.chunkEnd(txn, previous, len(l.prefix))
		if err != nil || last > limit {
			return err
		}
		return b.add(previous, nil)
	})
}

func (s *Store) chunkEnd(txn *badgerdb.Txn, key []byte, prefix int) (last uint64, err error) {
	item, err := txn.Get(key)
	if err != nil {
		return 0, fmt.Errorf("badger: get %q: %w", key, err)
	}
	err = viewChunk(item, prefix, func(c chunk) error {
		last = c.last()
		return nil
	})
	return last, err
}

// sweepParts removes every part that the head does not name: those of the
// older snapshot, and those that a crash has left.
func (s *Store) sweepParts(b *bulk, actor string, h head) error {
	if err := s.step(stepSweep); err != nil {
		return err
	}
	prefix := actorPrefix(familyPart, actor)
	return s.eachKey(prefix, func(key []byte) error {
		if id, part, ok := partOf(key, len(prefix)); ok && id == h.id && uint64(part) < h.parts {
			return nil
		}
		return b.add(key, nil)
	})
}

// step lets tests stop a snapshot between its steps.
func (s *Store) step(name string) error {
	if s.hooks.snapshotStep == nil {
		return nil
	}
	return s.hooks.snapshotStep(name)
}

// Load implements durable.Log.
func (l *actorLog) Load() (state []byte, seq uint64, err error) {
	if l.closed {
		return nil, 0, durable.ErrClosed
	}
	s := l.store
	if err := s.gate.enter(); err != nil {
		return nil, 0, err
	}
	defer s.gate.leave()
	err = s.db.View(func(txn *badgerdb.Txn) error {
		h, err := readHead(txn, l.actor)
		if errors.Is(err, durable.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		state, err = h.readState(txn, l.actor)
		seq = h.seq
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return state, seq, nil
}
