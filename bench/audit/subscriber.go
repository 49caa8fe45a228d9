package audit

import "slices"

// Subscriber records the messages that one client received, over all of its connections.
type Subscriber struct {
	// Index is the place of the subscriber, see Event.Owner. Immutable.
	Index int
	// Facilitator means that this is a facilitator. Immutable.
	Facilitator bool

	// Duplicated counts events that came again, Reordered those whose seq was
	// not above all earlier ones.
	Duplicated, Reordered int
	// Misdirected counts events that were for others.
	Misdirected int
	// Resyncs counts gaps that the server admitted.
	Resyncs int

	welcomed     bool
	from, last   uint64
	shared       bitset
	facilitators bitset
	own          []uint64 // seqs; a handful
}

// Welcome is the first welcome: what comes after seq is to be got.
func (s *Subscriber) Welcome(seq uint64) {
	if !s.welcomed {
		s.welcomed, s.from, s.last = true, seq, seq
	}
}

// Resync notes a gap that the server admitted; the stream goes on after seq.
func (s *Subscriber) Resync(seq uint64) {
	s.Resyncs++
	s.last = max(s.last, seq)
}

// Position is the subscriber's position in the stream: what it gives as `since` when it
// comes back.
func (s *Subscriber) Position() uint64 { return s.last }

func (s *Subscriber) hasOwn(seq uint64) bool { return slices.Contains(s.own, seq) }

func (s *Subscriber) addOwn(seq uint64) bool {
	if s.hasOwn(seq) {
		return false
	}
	s.own = append(s.own, seq)
	return true
}
