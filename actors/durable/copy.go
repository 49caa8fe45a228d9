package durable

import (
	"errors"
	"fmt"
	"time"
)

// How a follower's copy of the state comes from the log.

// load reads the state up to a position, for the first time or anew.
func (f *follower[C, E, V]) load(upTo uint64) {
	f.open()
	whole, err := f.read(upTo)
	for i := 0; i < 5 && err == nil && !whole; i++ {
		whole, err = f.read(upTo)
	}
	if err == nil && !whole {
		err = fmt.Errorf("%w: %w", ErrCorrupt, errHole)
	}
	if err != nil {
		f.seat.fail(fmt.Errorf("follow %s: %w", f.handle.actorID, err))
	}
	f.joined = true
	view := f.core.Capture()
	f.handle.publish(view, f.seq)
	if f.handle.observer != nil {
		f.handle.observer.Live(view, f.seq)
	}
	f.handle.recovered(0)
}

// open opens the log for reading, if it is not.
func (f *follower[C, E, V]) open() {
	if f.reader != nil {
		return
	}
	reader, err := f.host.opts.Cluster.Store.Follow(f.handle.actorID)
	if err != nil {
		f.seat.fail(fmt.Errorf("follow %s: %w", f.handle.actorID, err))
	}
	f.reader = reader
}

// read reads snapshot and log. It reports false when the log was cut off behind
// a newer snapshot meanwhile.
func (f *follower[C, E, V]) read(upTo uint64) (whole bool, err error) {
	state, snap, err := f.reader.Load()
	if err != nil {
		return false, err
	}
	f.core, f.seq = f.host.kind.New(f.handle.id), snap
	if state != nil {
		if err := f.core.Restore(snap, state); err != nil {
			return false, err
		}
	}
	tail, err := f.reader.Tail()
	if err != nil {
		return false, err
	}
	old := uint64(0)
	if tail > f.host.kind.Keep {
		old = tail - f.host.kind.Keep
	}
	from := snap
	if f.handle.observer != nil {
		from = min(snap, old)
	}
	err = f.reader.Replay(from, func(seq uint64, record []byte) error {
		if seq > upTo {
			return errFarEnough
		}
		event, err := f.host.kind.ParseEvent(record)
		if err != nil {
			return fmt.Errorf("%w: event %d: %v", ErrCorrupt, seq, err)
		}
		if seq > snap {
			if seq != f.seq+1 {
				return errHole
			}
			f.core.Apply(seq, event)
			f.seq = seq
		}
		if f.handle.observer != nil && seq > old {
			f.handle.observer.Recovered(seq, event)
		}
		return nil
	})
	switch {
	case errors.Is(err, errHole):
		return false, nil
	case errors.Is(err, errFarEnough):
		return true, nil
	}
	return true, err
}

// errFarEnough ends the reading of a log at the position that its owner has
// named. What lies behind may be committed; but the owner, who does not know it
// yet, still shows a state without it, and a reader must not see it come and go.
var errFarEnough = errors.New("the owner has not acknowledged more")

// errHole says that a log goes on further than where the state ends.
var errHole = errors.New("the log was cut off behind a newer snapshot")

// catchUp reads the log from where the copy is to a position.
func (f *follower[C, E, V]) catchUp(upTo uint64) {
	f.open()
	events, err := f.host.readOn(f.reader, f.seq, upTo)
	if errors.Is(err, errHole) {
		f.load(upTo)
		return
	}
	if err != nil {
		f.seat.fail(fmt.Errorf("follow %s: %w", f.handle.actorID, err))
	}
	f.apply(events)
}

// readOn returns the events of a log after a position and up to another; errHole
// when the next is not there any more.
func (h *Host[C, E, V]) readOn(from interface {
	Replay(uint64, func(uint64, []byte) error) error
}, seq, upTo uint64) (events []Committed[E], err error) {
	err = from.Replay(seq, func(at uint64, record []byte) error {
		if at > upTo {
			return errFarEnough
		}
		if at != seq+1+uint64(len(events)) {
			return errHole
		}
		event, err := h.kind.ParseEvent(record)
		if err != nil {
			return fmt.Errorf("%w: event %d: %v", ErrCorrupt, at, err)
		}
		events = append(events, Committed[E]{Seq: at, Event: event})
		return nil
	})
	if errors.Is(err, errFarEnough) {
		err = nil
	}
	return events, err
}

// apply brings events into the state, the view and the room.
func (f *follower[C, E, V]) apply(events []Committed[E]) {
	if len(events) == 0 {
		return
	}
	for _, e := range events {
		f.core.Apply(e.Seq, e.Event)
		f.seq = e.Seq
	}
	view := f.core.Capture()
	f.handle.publish(view, f.seq)
	if f.handle.observer != nil {
		f.handle.observer.Commit(view, f.seq, events)
	}
}

// readUnheard goes on from the log while the owner is alive and cannot be heard,
// for those who listen here. What has lain there for as long as a lease lasts the
// owner knows, or it is no owner any more.
func (f *follower[C, E, V]) readUnheard(now time.Time, silent bool) {
	if !silent || !f.joined {
		f.unheard = f.unheard[:0]
		return
	}
	f.open()
	if tail, err := f.reader.Tail(); err == nil && tail > f.seq && (len(f.unheard) == 0 || tail > f.unheard[len(f.unheard)-1].seq) {
		f.unheard = append(f.unheard, seen{tail, now})
	}
	for len(f.unheard) > 0 && now.Sub(f.unheard[0].at) > f.leaseTime() {
		if f.unheard[0].seq > f.seq {
			f.catchUp(f.unheard[0].seq)
		}
		f.unheard = f.unheard[1:]
	}
}

// readByItself keeps a copy fresh that only needs to be of lately, also while the
// owner is not heard.
func (f *follower[C, E, V]) readByItself(now time.Time) {
	if !f.joined || f.quiet < 2 {
		return
	}
	f.open()
	tail, err := f.reader.Tail()
	if err != nil {
		return
	}
	if tail > f.seq {
		f.catchUp(tail)
	}
	f.freshSince(now, tail)
}
