package durable

import (
	"errors"
	"fmt"
	"time"
)

// This file loads and updates a follower's replica from the log.

// load reads the state up to a position, and replaces any earlier state.
func (f *follower[C, E, V]) load(upTo uint64) {
	f.open()
	read, err := f.host.kind.load(f.handle.id, f.handle.observer, f.reader, upTo)
	if err != nil {
		f.role.fail(fmt.Errorf("follow %s: %w", f.handle.actorID, err))
	}
	f.core, f.seq, f.chain, f.joined = read.core, read.seq, read.chain, true
	f.handle.publishRead(read)
	f.handle.recovered(0)
}

// open opens the log for reading, if it is not open.
func (f *follower[C, E, V]) open() {
	if f.reader != nil {
		return
	}
	reader, err := f.host.opts.Cluster.Store.Follow(f.handle.actorID)
	if err != nil {
		f.role.fail(fmt.Errorf("follow %s: %w", f.handle.actorID, err))
	}
	f.reader = reader
}

// catchUp reads the log from the replica's position to another. If the log was rewritten meanwhile,
// the state is reloaded.
func (f *follower[C, E, V]) catchUp(upTo uint64, message replication) {
	f.open()
	read, err := f.host.readOn(f.reader, f.seq, f.chain, upTo)
	if errors.Is(err, ErrCompacted) {
		f.load(upTo)
		return
	}
	if err != nil {
		f.role.fail(fmt.Errorf("follow %s: %w", f.handle.actorID, err))
	}
	for i := range read.events {
		read.events[i].Origin = message.origin(read.events[i].Seq)
	}
	f.apply(read.events, read.chain)
}

// apply applies events to the state, publishes the view, and notifies the observer. chain is the
// hash of the last event.
func (f *follower[C, E, V]) apply(events []Committed[E], chain uint64) {
	if len(events) == 0 {
		return
	}
	for _, e := range events {
		f.core.Apply(e.Seq, e.Event)
		f.seq = e.Seq
	}
	f.chain = chain
	view := f.core.Capture()
	f.handle.publish(view, f.seq, chain)
	if f.handle.observer != nil {
		f.handle.observer.Commit(view, f.seq, events)
	}
}

// readWhileUnreachable reads the log for this node's clients while the owner is alive but cannot be
// reached. It shows a record only after it has been in the log for longer than a lease. By then,
// either the owner has acknowledged the record, or the node is no longer the owner.
func (f *follower[C, E, V]) readWhileUnreachable(now time.Duration, silent bool) {
	if !silent || !f.joined {
		f.tails = f.tails[:0]
		return
	}
	f.open()
	if tail, err := f.reader.Tail(); err == nil && tail > f.seq && (len(f.tails) == 0 || tail > f.tails[len(f.tails)-1].seq) {
		f.tails = append(f.tails, seen{tail, now})
	}
	for len(f.tails) > 0 && now-f.tails[0].at > f.leaseTime() {
		if f.tails[0].seq > f.seq {
			f.catchUp(f.tails[0].seq, replication{})
		}
		f.tails = f.tails[1:]
	}
}

// readByItself keeps a replica recent while the owner is silent, for readers that accept a slightly
// older state.
func (f *follower[C, E, V]) readByItself(now time.Duration) {
	if !f.joined || f.quiet < 2 {
		return
	}
	f.open()
	tail, err := f.reader.Tail()
	if err != nil {
		return
	}
	if tail > f.seq {
		f.catchUp(tail, replication{})
	}
	f.freshSince(now, tail)
}
