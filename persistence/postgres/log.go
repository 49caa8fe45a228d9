package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// actorLog is one handle. Its owner calls it from one goroutine; the writer
// keeps its own notes in it.
type actorLog struct {
	// Immutable after Open.
	store *Store
	actor string
	lease *lease
	epoch int64  // of this ownership; no other has it, ever. 0: not taken
	tail  uint64 // seq of the last record then

	// Set by Close, which may come while Rewrite works.
	closed atomic.Bool
	// users are the open handle and the snapshots under way: the actor is given
	// back when there are none.
	users atomic.Int32

	// Set by the writer, read by snapshots and rewrites.
	fenced atomic.Bool

	// Owned by the writer; Open sets next before anybody can append.
	next   uint64 // seq of the next record
	failed error  // why every later batch fails
	span   int    // the log's newest chunk in the group
}

var _ durable.Log = (*actorLog)(nil)

// Open implements durable.Journal. It waits for a snapshot or a rewriting of the
// same actor that is under way here.
func (s *Store) Open(actor string) (durable.Log, error) {
	if err := layout.CheckActor(actor); err != nil {
		return nil, err
	}
	if err := s.enterCall(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	defer s.locks.Lock(actor)()

	l := &actorLog{store: s, actor: actor, lease: s.lease.Load()}
	l.users.Store(1)
	if err := s.wait(item{kind: kindOpen, log: l}); err != nil {
		return nil, fmt.Errorf("open %s: %w", actor, err)
	}
	// Everything earlier handles of this node may still commit is committed now;
	// those of others end with the new epoch.
	var head int64
	var owned *durable.Owned
	err := l.lease.ask(func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, "select epoch, head from take_log($1, $2, $3)", s.node, l.lease.incarnation, []byte(actor)).Scan(&l.epoch, &head)
		if codeOf(err) == codeOwned {
			owned = &durable.Owned{Actor: actor, Node: detailOf(err)}
			return nil
		}
		return err
	})
	switch {
	case owned != nil:
		l.Close()
		return nil, owned
	case err != nil:
		l.Close()
		return nil, fmt.Errorf("open %s: %w", actor, err)
	}
	l.tail, l.next = uint64(head), uint64(head)+1
	return l, nil
}

// Tail implements durable.Log.
func (l *actorLog) Tail() uint64 { return l.tail }

// Append implements durable.Log.
func (l *actorLog) Append(b durable.Batch) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	count, err := layout.CountRecords(b.Records)
	if err != nil {
		return err
	}
	if err := layout.CheckRows(b.Rows); err != nil {
		return err
	}
	if durable.Guarded(b.Rows) {
		return errors.New("postgres: rows of a log's batch carry no guards")
	}
	return l.store.push(item{kind: kindBatch, log: l, first: b.First, rows: b.Rows, recs: b.Records, count: count, done: b.Done})
}

// Close implements durable.Log.
func (l *actorLog) Close() {
	if !l.closed.Swap(true) {
		l.leave()
	}
}

// leave ends one use of the handle; the last one gives the actor back.
func (l *actorLog) leave() {
	if l.users.Add(-1) == 0 {
		// Fails only when the store is closing, which gives everything back.
		_ = l.store.queue.Push(item{kind: kindRelease, log: l}, 0)
	}
}

// usable says why the handle's log must not be changed any more, or nil.
func (l *actorLog) usable() error {
	if l.fenced.Load() || !l.lease.holds() {
		return durable.ErrFenced
	}
	return nil
}

// admit checks that a batch continues the log and counts it in.
func (l *actorLog) admit(first uint64, count int) error {
	if l.failed != nil {
		return l.failed
	}
	if first != l.next {
		err := fmt.Errorf("%w: %s: batch starts at %d, the log goes on at %d", durable.ErrGap, l.actor, first, l.next)
		l.fail(err)
		return err
	}
	l.next += uint64(count)
	return nil
}

// fail makes every later batch of the handle fail: it would leave a hole where
// the failed one was.
func (l *actorLog) fail(cause error) {
	if l.failed == nil || errors.Is(cause, durable.ErrFenced) {
		if !errors.Is(cause, durable.ErrFenced) && !errors.Is(cause, durable.ErrGap) {
			cause = fmt.Errorf("%w: after a batch that failed: %w", durable.ErrGap, cause)
		}
		l.failed = cause
	}
}

func (l *actorLog) fence() {
	l.fail(durable.ErrFenced)
	l.fenced.Store(true)
}

func (l *actorLog) admitSnapshot(seq uint64) error {
	if l.failed != nil {
		return l.failed
	}
	if seq >= l.next {
		return fmt.Errorf("%w: %s: snapshot at %d, the log goes on at %d", durable.ErrGap, l.actor, seq, l.next)
	}
	return nil
}
