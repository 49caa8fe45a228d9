package audit

import "slices"

// Subscriber records the messages that one client received, over all of its connections.
type Subscriber struct {
	// Index identifies the subscriber, see Event.Owner. Immutable.
	Index int
	// Facilitator means that the subscriber is a facilitator. Immutable.
	Facilitator bool

	// Duplicated counts events that were received again. Reordered counts other events whose seq is
	// not above the seq of every earlier event.
	Duplicated, Reordered int
	// Misdirected counts events that were meant for others.
	Misdirected int
	// Resyncs counts gaps that the server reported.
	Resyncs int

	welcomed     bool
	from, last   uint64
	shared       bitset
	facilitators bitset
	own          []uint64 // seqs of the few events that concern this subscriber
}

// Welcome records the first welcome: the subscriber expects everything after seq.
func (s *Subscriber) Welcome(seq uint64) {
	if !s.welcomed {
		s.welcomed, s.from, s.last = true, seq, seq
	}
}

// Resync records a gap that the server reported; the stream continues after seq.
func (s *Subscriber) Resync(seq uint64) {
	s.Resyncs++
	s.last = max(s.last, seq)
}

// Position returns the subscriber's position in the stream, which it sends as `since` when it
// reconnects.
func (s *Subscriber) Position() uint64 { return s.last }

func (s *Subscriber) hasOwn(seq uint64) bool { return slices.Contains(s.own, seq) }

func (s *Subscriber) addOwn(seq uint64) bool {
	if s.hasOwn(seq) {
		return false
	}
	s.own = append(s.own, seq)
	return true
}
