package audit

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// isFor reports whether the event must reach the subscriber.
func isFor(e Event, index int, facilitator bool) bool {
	switch e.Audience {
	case Everyone:
		return true
	case Facilitators:
		return facilitator
	case FacilitatorsAndOwner:
		return facilitator || e.Owner == index
	}
	return false
}

// The auditor finds exactly the injected faults: each subscriber's own losses, repetitions and
// swaps.
func TestAuditorFindsExactlyWhatWasInjected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const people = 6 // the last two are facilitators
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var events []Event
		seq := uint64(100)
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			seq += 1 + rng.Uint64N(3)
			events = append(events, Event{seq, Everyone + Audience(rng.IntN(3)), rng.IntN(4)})
		}
		var auditor Auditor
		var subscribers [people]*Subscriber
		lost, doubled, swapped := [people]int{}, [people]int{}, [people]int{}
		for i := range people {
			s := &Subscriber{Index: i, Facilitator: i >= 4}
			subscribers[i] = s
			from := uint64(100)
			if len(events) > 0 && rng.IntN(2) == 0 {
				from = events[rng.IntN(len(events))].Seq // joined later
			}
			s.Welcome(from)
			var sent []Event
			for _, e := range events {
				if e.Seq > from && isFor(e, i, s.Facilitator) {
					sent = append(sent, e)
				}
			}
			for k := 0; k < len(sent); k++ {
				e := sent[k]
				harm := rng.IntN(12)
				switch {
				case harm == 0:
					lost[i]++
					continue
				case harm == 1:
					auditor.Observe(s, e)
					doubled[i]++
				case harm == 2 && k+1 < len(sent):
					auditor.Observe(s, sent[k+1])
					auditor.Observe(s, e)
					swapped[i]++
					k++
					continue
				}
				auditor.Observe(s, e)
			}
		}
		// A loss is detected only if another subscriber received the event.
		witness := &Subscriber{Index: 99, Facilitator: true}
		witness.Welcome(100)
		for _, e := range events {
			auditor.Observe(witness, e)
		}
		for i, s := range subscribers {
			if got := auditor.Missing(s, seq); got != lost[i] {
				t.Errorf("subscriber %d: %d missing, want %d", i, got, lost[i])
			}
			if s.Duplicated != doubled[i] || s.Reordered != swapped[i] || s.Misdirected != 0 {
				t.Errorf("subscriber %d: %d duplicated, %d reordered, %d misdirected; want %d, %d, 0",
					i, s.Duplicated, s.Reordered, s.Misdirected, doubled[i], swapped[i])
			}
		}
	})
}

func TestMissingCountsOnlyBetweenWelcomeAndEnd(t *testing.T) {
	var a Auditor
	full := &Subscriber{Index: 0}
	full.Welcome(0)
	for seq := uint64(1); seq <= 10; seq++ {
		a.Observe(full, Event{Seq: seq, Audience: Everyone, Owner: NoOwner})
	}
	late := &Subscriber{Index: 1}
	late.Welcome(4)
	late.Welcome(9) // a later connection changes nothing
	a.Observe(late, Event{Seq: 5, Audience: Everyone, Owner: NoOwner})
	if got := a.Missing(late, 8); got != 3 {
		t.Errorf("%d events are missing, want 3: 6, 7 and 8", got)
	}
	if got := a.Missing(&Subscriber{Index: 2}, 10); got != 0 {
		t.Errorf("a subscriber that never connected misses %d, want 0", got)
	}
}

func TestEventsForOthersAreMisdirected(t *testing.T) {
	var a Auditor
	s := &Subscriber{Index: 1}
	s.Welcome(0)
	a.Observe(s, Event{Seq: 1, Audience: Facilitators, Owner: 2})
	a.Observe(s, Event{Seq: 2, Audience: FacilitatorsAndOwner, Owner: NoOwner})
	a.Observe(s, Event{Seq: 3, Audience: FacilitatorsAndOwner, Owner: 1})
	a.Observe(s, Event{Seq: 4, Audience: Facilitators, Owner: 1}) // its own event, after a replay
	if s.Misdirected != 2 || s.Duplicated != 0 || a.Missing(s, 4) != 0 {
		t.Errorf("misdirected %d, duplicated %d, missing %d; want 2, 0, 0", s.Misdirected, s.Duplicated, a.Missing(s, 4))
	}
}

func TestAResyncCountsItsGapAsMissing(t *testing.T) {
	var a Auditor
	full, gap := &Subscriber{Index: 0}, &Subscriber{Index: 1}
	full.Welcome(0)
	gap.Welcome(0)
	for seq := uint64(1); seq <= 5; seq++ {
		a.Observe(full, Event{Seq: seq, Audience: Everyone})
	}
	gap.Resync(4)
	a.Observe(gap, Event{Seq: 5, Audience: Everyone})
	if gap.Resyncs != 1 || gap.Position() != 5 || gap.Reordered != 0 || a.Missing(gap, 5) != 4 {
		t.Errorf("the subscriber is %+v with %d missing, want 1 resync, position 5, 0 reordered and 4 missing", gap, a.Missing(gap, 5))
	}
}

func TestEventsUnknownToTheAuditAreJudgedByTheirOrder(t *testing.T) {
	var a Auditor
	s := &Subscriber{}
	s.Welcome(10)
	for _, seq := range []uint64{11, 11, 13, 12} {
		a.Observe(s, Event{Seq: seq})
	}
	if s.Duplicated != 1 || s.Reordered != 1 || s.Position() != 13 {
		t.Errorf("duplicated %d, reordered %d, at %d; want 1, 1, 13", s.Duplicated, s.Reordered, s.Position())
	}
}

func TestReconcileCountsLostAndDoubledWrites(t *testing.T) {
	fates := []Fate{Acknowledged, Acknowledged, Acknowledged, Unanswered, Unanswered, Refused, Refused, Unsent, Unanswered}
	found := []int{1, 0, 3, 0, 1, 0, 1, 1}
	want := Writes{Acknowledged: 3, Unanswered: 3, UnansweredApplied: 1, Lost: 1, Doubled: 2, Phantom: 2}
	if got := Reconcile(fates, found); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func BenchmarkObserve(b *testing.B) {
	var a Auditor
	s := make([]Subscriber, 1000)
	for i := range s {
		s[i].Welcome(0)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		a.Observe(&s[n%1000], Event{Seq: uint64(1 + n/1000), Audience: Everyone})
		n++
	}
}
