package memory

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"atelier/actors/durable"
)

// handle is a handle on a log of a Store.
type handle struct {
	store  *Store
	actor  string
	closed atomic.Bool

	tail   uint64 // the seq of the last record when the handle was opened
	epoch  uint64 // the epoch of the ownership, if nodes share the store
	next   uint64 // guarded by store.mu; seq of the next record
	failed error  // guarded by store.mu; the reason why every later batch fails
}

// Tail implements durable.Log.
func (l *handle) Tail() uint64 { return l.tail }

// Load implements durable.LogReader.
func (l *handle) Load(history uint64, snapshot func(durable.Snapshot) error, record func(uint64, []byte) error) error {
	snap, first, records, err := l.read()
	if err != nil {
		return err
	}
	snap.State = bytes.Clone(snap.State)
	if err := snapshot(snap); err != nil {
		return err
	}
	return replay(first, records, min(snap.Seq, snap.Tail-min(snap.Tail, history)), record)
}

// Replay implements durable.LogReader.
func (l *handle) Replay(after uint64, fn func(uint64, []byte) error) error {
	snap, first, records, err := l.read()
	if err != nil {
		return err
	}
	if err := snap.CheckReplay(l.actor, after); err != nil {
		return err
	}
	return replay(first, records, after, fn)
}

func (l *handle) read() (snap durable.Snapshot, first uint64, records [][]byte, err error) {
	if l.closed.Load() {
		return snap, 0, nil, durable.ErrClosed
	}
	err = l.store.withContent(func() { snap, first, records = l.store.content.read(l.actor) })
	return snap, first, records, err
}

func replay(first uint64, records [][]byte, after uint64, fn func(uint64, []byte) error) error {
	for i, record := range records {
		if seq := first + uint64(i); seq > after {
			if err := fn(seq, record); err != nil {
				return err
			}
		}
	}
	return nil
}

// Append implements durable.Log.
func (l *handle) Append(b durable.Batch) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	var records [][]byte
	err := b.Records.Each(func(record []byte) error {
		records = append(records, record)
		return nil
	})
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return errNoRecords
	}
	if durable.Guarded(b.Rows) {
		return errPreconditions
	}
	if err := checkRows(b.Rows); err != nil {
		return err
	}
	m := l.store
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.push(entry{
		commit:  true,
		urgent:  b.Urgent,
		bytes:   len(b.Records) + rowBytes(b.Rows),
		records: len(records),
		log:     l,
		apply: func() error {
			if err := l.usable(); err != nil {
				return err
			}
			if b.First != l.next {
				return fmt.Errorf("%w: %s: batch starts at %d, the log continues at %d",
					durable.ErrGap, l.actor, b.First, l.next)
			}
			l.next += uint64(len(records))
			m.content.add(l.actor, b.First, records)
			if m.node != nil && m.content.committed != nil {
				m.content.committed(m.node.name, l.actor, b.First, records)
			}
			m.content.put(b.Rows)
			return nil
		},
		done: b.Done,
	})
}

// Snapshot implements durable.Log.
func (l *handle) Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	m := l.store
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readOnly {
		return durable.ErrReadOnly
	}
	return m.push(entry{
		log: l,
		apply: func() error {
			if err := l.usable(); err != nil {
				return err
			}
			if seq >= l.next {
				return fmt.Errorf("%w: %s: snapshot at %d, the log continues at %d",
					durable.ErrGap, l.actor, seq, l.next)
			}
			return m.content.snapshot(l.actor, seq, state, keep)
		},
		done: done,
	})
}

// Rewrite implements durable.Log. fn runs on the caller's goroutine without a lock, so appends can
// continue.
func (l *handle) Rewrite(upTo uint64, fn func(uint64, []byte) ([]byte, bool, error)) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	m := l.store
	var first uint64
	var records [][]byte
	err := m.wait(func() error {
		if err := l.usable(); err != nil {
			return err
		}
		if m.readOnly {
			return durable.ErrReadOnly
		}
		if a := m.content.actors[l.actor]; upTo > 0 && (a == nil || upTo > a.snapshotSeq) {
			return fmt.Errorf("%w: a rewrite up to %d is beyond the snapshot", durable.ErrGap, upTo)
		}
		_, first, records = m.content.read(l.actor)
		return nil
	})
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", l.actor, err)
	}
	replaced := map[uint64][]byte{}
	for i, record := range records {
		seq := first + uint64(i)
		if seq > upTo {
			break
		}
		replacement, changed, err := fn(seq, record)
		if err != nil {
			return fmt.Errorf("rewrite %s: %w", l.actor, err)
		}
		if changed {
			replaced[seq] = append([]byte{}, replacement...)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.node != nil {
		if err := m.node.reach(); err != nil {
			return err
		}
		if err := l.usable(); err != nil {
			return err
		}
	}
	m.content.rewrite(l.actor, upTo, replaced)
	return nil
}

// usable returns an error with the reason why the log must no longer be changed, or nil.
func (l *handle) usable() error {
	if l.failed != nil {
		return l.failed
	}
	if n := l.store.node; n != nil && !n.owns(l) {
		return durable.ErrFenced
	}
	return nil
}

// Close implements durable.Log. If nodes share the store, the actor is released after the queued
// batches.
func (l *handle) Close() {
	if l.closed.Swap(true) || l.store.node == nil {
		return
	}
	m := l.store
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.push(entry{apply: func() error { // fails only if the node was closed or lost its lease, and then nothing needs to be released
		m.node.giveLog(l)
		return nil
	}})
}

// Follow implements durable.Journal.
func (m *Store) Follow(actor string) (durable.Reader, error) {
	if err := m.withContent(func() {}); err != nil {
		return nil, err
	}
	return reader{&handle{store: m, actor: actor}}, nil
}

type reader struct{ *handle }

// Tail implements durable.Reader.
func (r reader) Tail() (tail uint64, err error) {
	err = r.store.withContent(func() { tail = r.store.content.tail(r.actor) })
	return tail, err
}
