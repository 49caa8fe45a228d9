package postgres

import (
	"context"
	"fmt"
	"sync/atomic"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// actorLog is a handle on an actor's log. Its owner calls it from one goroutine. The writer stores
// its own state in it.
type actorLog struct {
	// Immutable after Open:
	store *Store
	lease *lease
	epoch int64  // epoch of this ownership, never reused; 0 before the actor is taken
	tail  uint64 // seq of the last record when the log was opened

	// closed is set by Close, which can be called while Rewrite runs.
	closed atomic.Bool
	// users counts the open handle and the snapshots in progress. When it reaches 0, the actor is
	// released.
	users atomic.Int32

	// The Cursor is the log's position. Open sets it, and then the writer owns it.
	calls.Cursor
	span int // index in group.chunks of the log's newest chunk
}

var _ durable.Log = (*actorLog)(nil)

// Open implements durable.Journal. If a snapshot or a rewrite of the same actor is in progress on
// this node, Open waits until it has ended.
func (s *Store) Open(actor string) (durable.Log, error) {
	if err := layout.CheckActor(actor); err != nil {
		return nil, err
	}
	if err := s.enterCall(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	defer s.locks.Lock(actor)()

	l := &actorLog{store: s, Cursor: calls.Cursor{Actor: actor}, lease: s.lease.Load()}
	l.users.Store(1)
	if err := s.wait(entry{Kind: calls.KindOpen, Log: l}); err != nil {
		return nil, fmt.Errorf("open %s: %w", actor, err)
	}
	// This node's earlier handles have now committed all their batches. The new epoch ends the
	// handles of other nodes.
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
	l.tail, l.Next = uint64(head), uint64(head)+1
	return l, nil
}

// Tail implements durable.Log.
func (l *actorLog) Tail() uint64 { return l.tail }

// Append implements durable.Log.
func (l *actorLog) Append(b durable.Batch) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	e, err := calls.BatchItem(l, b)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	return l.store.push(item{entry: e})
}

// Close implements durable.Log.
func (l *actorLog) Close() {
	if !l.closed.Swap(true) {
		l.leave()
	}
}

// leave ends one use of the handle. The last use releases the actor.
func (l *actorLog) leave() {
	if l.users.Add(-1) == 0 {
		// Push fails only while the store is closing. Close itself releases all actors.
		_ = l.store.queue.Push(item{entry: entry{Kind: calls.KindRelease, Log: l}}, 0)
	}
}

// usable returns an error if this handle must no longer change the log.
func (l *actorLog) usable() error {
	if l.Fenced() || !l.lease.holds() {
		return durable.ErrFenced
	}
	return nil
}
