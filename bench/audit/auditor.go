package audit

// Audience is the set of recipients of a stored event.
type Audience uint8

const (
	// Unknown means that only the event's order is checked, not its recipients.
	Unknown Audience = iota
	// Everyone means everyone in the codelab.
	Everyone
	// Facilitators means the facilitators. The event's owner can also receive the event.
	Facilitators
	// FacilitatorsAndOwner means the facilitators and the event's owner.
	FacilitatorsAndOwner
)

// NoOwner is the owner of an event that concerns no subscriber of the run.
const NoOwner = -1

// Event contains the parts of a stored event that the audit needs.
type Event struct {
	Seq      uint64
	Audience Audience
	// Owner is the Index of the subscriber that the event concerns, or NoOwner.
	Owner int
}

// Auditor collects what all subscribers of one stream received. The zero value is ready to use. It
// is not safe for concurrent use.
type Auditor struct {
	shared, facilitators ledger
}

// ledger is the union of the events of one kind that any subscriber received. The events are
// numbered in the order in which they were first seen.
type ledger struct {
	numbers map[uint64]int // by seq
	entries []Event
}

// number returns the event's number and whether the event is new. A new event gets the next
// number.
func (l *ledger) number(e Event) (int, bool) {
	if n, known := l.numbers[e.Seq]; known {
		return n, false
	}
	if l.numbers == nil {
		l.numbers = make(map[uint64]int)
	}
	n := len(l.entries)
	l.numbers[e.Seq] = n
	l.entries = append(l.entries, e)
	return n, true
}

// Observe records that a subscriber received an event. It reports whether no subscriber had
// received the event before; for the audience Unknown, it reports false.
func (a *Auditor) Observe(s *Subscriber, e Event) bool {
	again, first := false, false
	switch e.Audience {
	case Everyone:
		n, isNew := a.shared.number(e)
		again, first = !s.shared.add(n), isNew
	case Facilitators, FacilitatorsAndOwner:
		n, isNew := a.facilitators.number(e)
		first = isNew
		switch {
		case s.Facilitator:
			again = !s.facilitators.add(n)
		case e.Owner == s.Index:
			again = !s.addOwn(e.Seq)
		default:
			s.Misdirected++
		}
	default:
		again = e.Seq == s.last
	}
	switch {
	case again:
		s.Duplicated++
	case e.Seq <= s.last:
		s.Reordered++
	}
	s.last = max(s.last, e.Seq)
	return first
}

// Missing returns the number of events up to and including until that the subscriber should have
// received since its first welcome and did not.
func (a *Auditor) Missing(s *Subscriber, until uint64) int {
	if !s.welcomed {
		return 0
	}
	lost := 0
	due := func(e Event) bool { return e.Seq > s.from && e.Seq <= until }
	for n, e := range a.shared.entries {
		if due(e) && !s.shared.has(n) {
			lost++
		}
	}
	for n, e := range a.facilitators.entries {
		switch {
		case !due(e):
		case s.Facilitator:
			if !s.facilitators.has(n) {
				lost++
			}
		case e.Audience == FacilitatorsAndOwner && e.Owner == s.Index && !s.hasOwn(e.Seq):
			lost++
		}
	}
	return lost
}
