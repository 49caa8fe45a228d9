package badger

import (
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// snapshotJob is one request to store a state.
type snapshotJob = calls.Snapshot[*actorLog]

// Snapshot implements durable.Log. done is called on the goroutine that stores snapshots or, if the
// log is no longer valid, on the writer's goroutine.
func (l *actorLog) Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	s := l.store
	if err := s.writable(); err != nil {
		return err
	}
	return s.snapshots.Ask(&snapshotJob{Log: l, Seq: seq, State: state, Keep: keep, Done: done}, func(e entry) error { return s.queue.Push(item{entry: e}, 0) })
}

// The steps of storing a snapshot. Tests simulate crashes between them.
const (
	stepPart     = "part"
	stepHead     = "head"
	stepTruncate = "truncate"
	stepSweep    = "sweep"
)

// storeCounted stores a snapshot and counts it.
func (s *Store) storeCounted(job *snapshotJob) error {
	err := s.storeSnapshot(job)
	s.stats.Snapshot(err)
	return err
}

// storeSnapshot writes the parts, then the head, and only then removes data that the new snapshot
// replaces. After an interruption at any step, a complete snapshot and all later records are
// stored.
func (s *Store) storeSnapshot(job *snapshotJob) error {
	actor := job.Log.Actor
	defer s.locks.Lock(actor)()
	// While the lock is held, no newer handle can be opened. An old incarnation's snapshot is
	// therefore never stored after a new incarnation has read the state.
	if job.Log.Fenced() {
		return durable.ErrFenced
	}
	var old layout.Head
	err := s.view(func(txn *badgerdb.Txn) (err error) {
		old, err = readHead(txn, actor)
		return err
	})
	if err != nil && !errors.Is(err, durable.ErrNotFound) {
		return err
	}
	if job.Seq < old.Seq {
		return fmt.Errorf("badger: snapshot of %s at %d is older than the stored one at %d", actor, job.Seq, old.Seq)
	}

	// The new base is stored before anything is truncated.
	limit := min(job.Seq, job.Keep)
	h := layout.NewHead(job.Seq, max(old.Base, limit), old.ID+1, job.State)
	if err := s.writeParts(actor, h, job.State); err != nil {
		return fmt.Errorf("snapshot of %s: %w", actor, err)
	}
	b := bulk{store: s}
	if err := s.writeHead(&b, actor, h); err != nil {
		return fmt.Errorf("snapshot of %s: %w", actor, err)
	}
	if err := s.truncate(&b, job.Log, limit); err != nil {
		return fmt.Errorf("truncate %s: %w", actor, err)
	}
	if err := s.sweepParts(&b, actor, h); err != nil {
		return fmt.Errorf("remove old snapshot parts of %s: %w", actor, err)
	}
	return b.flush()
}

func (s *Store) writeParts(actor string, h layout.Head, state []byte) error {
	b := bulk{store: s}
	for part := range h.Parts {
		if err := s.step(stepPart); err != nil {
			return err
		}
		key := layout.PartKey(actor, h.ID, uint32(part))
		piece := state[part*layout.PartBytes : min(h.Length, (part+1)*layout.PartBytes)]
		if err := b.add(key, layout.Sealed(key, piece)); err != nil {
			return err
		}
	}
	return b.flush()
}

// writeHead queues the head. Later deletions in b can be in the same transaction, but are never
// committed before the head.
func (s *Store) writeHead(b *bulk, actor string, h layout.Head) error {
	if err := s.step(stepHead); err != nil {
		return err
	}
	key := layout.HeadKey(actor)
	return b.add(key, layout.Sealed(key, h.Encode()))
}

// step lets tests stop a snapshot or a purge between its steps.
func (s *Store) step(name string) error {
	if s.hooks.snapshotStep == nil {
		return nil
	}
	return s.hooks.snapshotStep(name)
}
