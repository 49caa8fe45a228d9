package journaltest

import (
	"fmt"
	"strings"

	"atelier/actors/durable"
)

var snapshotTests = []conformance{
	{"a snapshot is loaded and its records are truncated", func(s *subject) {
		l := s.log("codelab/1")
		for seq := uint64(1); seq <= 5; seq++ {
			l.add(seq, "r")
		}
		l.snap(3, "state 3", 3)
		l.loads("state 3", 3)
		l.holds(0, "4 r", "5 r")
		l.holds(3, "4 r", "5 r")
		l.bases(3)
		s.reopen()
		l = s.log("codelab/1")
		l.bases(3)
		l.loads("state 3", 3)
		l.holds(3, "4 r", "5 r")
		l.add(6, "r")
	}},

	{"records after keep stay", func(s *subject) {
		l := s.log("codelab/1")
		for seq := uint64(1); seq <= 4; seq++ {
			l.add(seq, "r")
		}
		l.snap(4, "state", 2)
		l.holds(0, "3 r", "4 r")
		l.holds(4)
		l.bases(2)
		l.snap(4, "again", 0)
		l.holds(0, "3 r", "4 r")
		l.bases(2)
	}},

	{"records after the snapshot stay for any keep", func(s *subject) {
		l := s.log("codelab/1")
		for seq := uint64(1); seq <= 4; seq++ {
			l.add(seq, "r")
		}
		l.snap(2, "state", ^uint64(0))
		l.holds(0, "3 r", "4 r")
	}},

	// In an earlier version, such a replay returned no records and no error.
	{"a truncated log cannot be replayed from below its base", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b", "c")
		l.snap(3, "state", 3)
		for after := range uint64(3) {
			s.fails(l.Replay(after, func(uint64, []byte) error { return nil }), durable.ErrCompacted)
		}
		l.holds(3)
		s.fails(l.Replay(4, func(uint64, []byte) error { return nil }), durable.ErrCompacted)
	}},

	{"a partly truncated batch keeps its other records", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b", "c", "d")
		l.snap(2, "state", 2)
		l.holds(2, "3 c", "4 d")
	}},

	{"a completely truncated log continues at its tail", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b")
		l.snap(2, "state", 2)
		l.holds(0)
		l.add(3, "c")
		s.reopen()
		l = s.log("codelab/1")
		l.holds(2, "3 c")
		l.snap(3, "state", 3)
		s.reopen()
		l = s.log("codelab/1")
		l.holds(3)
		s.fails(<-l.queue(1, "x"), durable.ErrGap)
		l = s.log("codelab/1")
		l.add(4, "d")
	}},

	{"a newer snapshot replaces the older, of any size", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a")
		for _, size := range []int{0, 10, 300 << 10, 6 << 20, 1 << 20, 5<<20 + 1, 3} {
			state := strings.Repeat("s", size)
			l.snap(1, state, 0)
			l.loads(state, 1)
		}
		s.reopen()
		s.log("codelab/1").loads("sss", 1)
	}},

	{"an older snapshot does not replace a newer one", func(s *subject) {
		l := s.log("codelab/1")
		for seq := uint64(1); seq <= 3; seq++ {
			l.add(seq, "r")
		}
		l.snap(3, "new", 3)
		if err := l.trySnap(2, "old", 2); err == nil {
			s.Fatal("an older snapshot was accepted")
		}
		l.loads("new", 3)
	}},

	{"a snapshot ahead of the log is refused", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a")
		if err := l.trySnap(2, "state", 0); err == nil {
			s.Fatal("a snapshot ahead of the log was accepted")
		}
		l.loads("", 0)
	}},

	{"a snapshot waits for the batches before it", func(s *subject) {
		l := s.log("codelab/1")
		release := s.blockWriter()
		defer release()
		batch := l.queue(1, "a")
		done, stored := newOutcome()
		s.must(l.Snapshot(1, []byte("state"), 1, done))
		release()
		s.must(<-stored)
		select {
		case err := <-batch:
			s.must(err)
		default:
			s.Fatal("the snapshot was stored before its records")
		}
		l.loads("state", 1)
		l.holds(0)
	}},

	{"the newest of many snapshots stays, and each is acknowledged once", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a")
		release := s.blockWriter()
		defer release()
		var outcomes []outcome
		for i := range 50 {
			done, o := newOutcome()
			s.must(l.Snapshot(1, fmt.Append(nil, "state ", i), 0, done))
			outcomes = append(outcomes, o)
		}
		release()
		for _, o := range outcomes {
			s.must(<-o)
		}
		l.loads("state 49", 1)
		s.reopen()
		for _, o := range outcomes {
			if len(o) > 0 {
				s.Fatal("a snapshot was acknowledged twice")
			}
		}
		s.log("codelab/1").loads("state 49", 1)
	}},

	{"closing the journal stores queued snapshots", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a")
		done, o := newOutcome()
		s.must(l.Snapshot(1, []byte("state"), 1, done))
		s.reopen()
		s.must(<-o)
		s.log("codelab/1").loads("state", 1)
	}},
}
