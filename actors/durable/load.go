package durable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// This file loads states from logs, both for owners and for followers.

// everything is a position after the end of any log.
const everything = math.MaxUint64

// loaded is a state read from snapshot and log.
type loaded[C, E, V any] struct {
	core  Core[C, E, V]
	seq   uint64 // seq of the last event in the state
	chain uint64 // the hash of that event
	size  int    // bytes of the snapshot
	// events and bytes are the number and the size of the records applied after the snapshot.
	events, bytes int
	// erasers contains the events, among those read, that request an erasure.
	erasers []E
}

// Read returns an actor's state, read from its log. Read does not start the actor, and open handles
// stay valid. The state of an actor without a log is empty.
func (k *Kind[C, E, V]) Read(j Journal, id string) (view *V, seq uint64, err error) {
	from, err := j.Follow(k.Name + "/" + id)
	if err != nil {
		return nil, 0, err
	}
	defer from.Close()
	read, err := k.load(id, nil, from, everything)
	if err != nil {
		return nil, 0, err
	}
	return read.core.Capture(), read.seq, nil
}

// load reads the state up to a position, or up to the snapshot if the snapshot is newer. If there
// is an observer, it also passes the newest events to the observer.
func (k *Kind[C, E, V]) load(id string, observer Observer[E, V], from LogReader, upTo uint64) (read loaded[C, E, V], err error) {
	read.core = k.New(id)
	history := uint64(0)
	if observer != nil {
		history = k.Keep
	}
	var snap, old uint64
	err = from.Load(history, func(s Snapshot) error {
		if s.Tail > history {
			old = s.Tail - history
		}
		snap, read.seq, read.size = s.Seq, s.Seq, len(s.State)
		if s.State == nil {
			return nil
		}
		state, chain, err := splitSnapshot(s.State)
		if err != nil {
			return err
		}
		read.chain = chain
		if err := read.core.Restore(s.Seq, state); err != nil {
			return fmt.Errorf("%w: snapshot at %d: %w", ErrCorrupt, s.Seq, err)
		}
		return nil
	}, func(seq uint64, record []byte) error {
		if seq > upTo && seq > snap {
			return errFarEnough
		}
		event, err := k.parse(seq, record)
		if err != nil {
			return err
		}
		if seq > snap {
			if seq != read.seq+1 {
				return fmt.Errorf("%w: event %d follows %d", ErrCorrupt, seq, read.seq)
			}
			read.core.Apply(seq, event)
			read.seq, read.chain = seq, chained(read.chain, record)
			read.events++
			read.bytes += len(record)
		}
		if k.Erases != nil && k.Erases(event) {
			read.erasers = append(read.erasers, event)
		}
		if observer != nil && seq > old {
			observer.Recovered(seq, event)
		}
		return nil
	})
	if errors.Is(err, errFarEnough) {
		err = nil
	}
	return read, err
}

// publishRead publishes a loaded state.
func (hd *Handle[C, E, V]) publishRead(read loaded[C, E, V]) *V {
	view := read.core.Capture()
	hd.publish(view, read.seq, read.chain)
	if hd.observer != nil {
		hd.observer.Live(view, read.seq)
	}
	return view
}

// readFurther is the result of readOn: the part of a log after a position.
type readFurther[E any] struct {
	events []Committed[E]
	chain  uint64 // the hash of the last event
}

// readOn returns the events of a log after seq, up to upTo, or ErrCompacted. chain is the chain
// hash at seq.
func (h *Host[C, E, V]) readOn(from LogReader, seq, chain, upTo uint64) (read readFurther[E], err error) {
	read.chain = chain
	err = from.Replay(seq, func(at uint64, record []byte) error {
		if at > upTo {
			return errFarEnough
		}
		if at != seq+1+uint64(len(read.events)) {
			return fmt.Errorf("%w: event %d follows %d", ErrCorrupt, at, seq+uint64(len(read.events)))
		}
		event, err := h.kind.parse(at, record)
		if err != nil {
			return err
		}
		read.events = append(read.events, Committed[E]{Seq: at, Event: event})
		read.chain = chained(read.chain, record)
		return nil
	})
	if errors.Is(err, errFarEnough) {
		err = nil
	}
	return read, err
}

// A callback returns errFarEnough to end the reading of a log at the position that the actor's
// owner reported. Later records can already be committed, but the owner shows a state without them
// until it receives the result of their commit. If a follower showed them, a client's next read on
// the owner would lack them.
var errFarEnough = errors.New("end of the records acknowledged by the owner")

func (k *Kind[C, E, V]) parse(seq uint64, record []byte) (E, error) {
	event, err := k.ParseEvent(record)
	if err != nil {
		err = fmt.Errorf("%w: event %d: %v", ErrCorrupt, seq, err)
	}
	return event, err
}

// chained returns the hash of a log whose last record is record: h(seq) = H(h(seq-1), record), over
// the records as appended. Two replicas with the same hash at a position have applied the same
// records. A snapshot includes the hash, so rewriting the log does not change it.
//
// For a 150-byte record, xxhash takes a fifth of the time of SHA-256. It does not prevent
// deliberate collisions, which is acceptable because nodes trust each other.
func chained(chain uint64, record []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(chain)
	_, _ = d.Write(record) // never fails
	return d.Sum64()
}

// chainBytes is the size of a chain hash. In a stored snapshot, the hash of the last record follows
// the state.
const chainBytes = 8

func joinSnapshot(state []byte, chain uint64) []byte {
	return binary.BigEndian.AppendUint64(state, chain)
}

func splitSnapshot(stored []byte) (state []byte, chain uint64, err error) {
	n := len(stored) - chainBytes
	if n < 0 {
		return nil, 0, fmt.Errorf("%w: a snapshot of %d bytes", ErrCorrupt, len(stored))
	}
	return stored[:n:n], binary.BigEndian.Uint64(stored[n:]), nil
}
