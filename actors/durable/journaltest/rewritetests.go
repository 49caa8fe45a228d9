package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"atelier/actors/durable"
)

var rewriteTests = []conformance{
	{"rewriting replaces changed records and keeps their numbers", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "secret", "c")
		l.add(4, "d")
		l.add(5, "secret", "f")
		l.snap(6, "state", 0)
		var seen []string
		s.must(l.Rewrite(6, func(seq uint64, record []byte) ([]byte, bool, error) {
			seen = append(seen, fmt.Sprint(seq, " ", string(record)))
			return []byte("x"), string(record) == "secret", nil
		}))
		if want := []string{"1 a", "2 secret", "3 c", "4 d", "5 secret", "6 f"}; !slices.Equal(seen, want) {
			s.Fatalf("the callback was passed %q", seen)
		}
		want := []string{"1 a", "2 x", "3 c", "4 d", "5 x", "6 f"}
		l.holds(0, want...)
		s.reopen()
		l = s.log("codelab/1")
		l.holds(0, want...)
		l.add(7, "g")
	}},

	// Rewritten records must not be replayed, because only the snapshot still contains their
	// effect.
	{"a rewritten log cannot be replayed from below its base", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "secret", "c", "d")
		l.snap(3, "state", 0)
		l.bases(0)
		none := func(uint64, []byte) ([]byte, bool, error) { return nil, false, nil }
		s.must(l.Rewrite(3, none))
		l.bases(0)
		l.holds(0, "1 a", "2 secret", "3 c", "4 d")
		s.must(l.Rewrite(3, func(_ uint64, record []byte) ([]byte, bool, error) {
			return []byte("x"), string(record) == "secret", nil
		}))
		l.bases(3)
		for after := range uint64(3) {
			s.fails(l.Replay(after, func(uint64, []byte) error { return nil }), durable.ErrCompacted)
		}
		l.holds(3, "4 d")
		s.reopen()
		l = s.log("codelab/1")
		l.bases(3)
		l.loads("state", 3)
		l.holds(0, "1 a", "2 x", "3 c", "4 d")
		l.add(5, "e")
		l.snap(5, "new", 0) // must keep the earlier base
		l.bases(3)
	}},

	{"an interrupted rewrite has raised the base with its first replacement", func(s *subject) {
		l := s.log("codelab/1")
		long := strings.Repeat("long", 1<<16)
		for seq := uint64(1); seq <= 8; seq++ {
			l.add(seq, long)
		}
		l.snap(8, "state", 0)
		stop := errors.New("stop")
		s.fails(l.Rewrite(8, func(seq uint64, _ []byte) ([]byte, bool, error) {
			if seq == 8 {
				return nil, false, stop
			}
			return []byte(long[1:]), true, nil
		}), stop)
		whole, err := ReadWhole(l, Everything)
		s.must(err)
		for _, r := range whole.Records {
			if !strings.HasSuffix(r, " "+long) && whole.Base != 8 {
				s.Fatalf("record %d was replaced, but the base is %d", seqOf(r), whole.Base)
			}
		}
	}},

	{"a replacement may be empty or long", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b", "c")
		l.snap(3, "state", 0)
		long := strings.Repeat("long", 1<<19)
		s.must(l.Rewrite(3, func(seq uint64, _ []byte) ([]byte, bool, error) {
			return map[uint64][]byte{1: nil, 3: []byte(long)}[seq], seq != 2, nil
		}))
		l.holds(0, "1 ", "2 b", "3 "+long)
	}},

	// The caller's view does not include the records above the limit, so rewriting must not touch
	// them.
	{"rewriting keeps records above its limit", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b", "c")
		l.add(4, "d")
		l.snap(3, "state", 0)
		all := func(uint64, []byte) ([]byte, bool, error) { return []byte("x"), true, nil }
		s.must(l.Rewrite(2, all))
		l.holds(0, "1 x", "2 x", "3 c", "4 d")
		s.must(l.Rewrite(3, all))
		l.holds(0, "1 x", "2 x", "3 x", "4 d")
	}},

	{"records that the snapshot does not contain are not rewritten", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b")
		all := func(uint64, []byte) ([]byte, bool, error) { return []byte("x"), true, nil }
		s.fails(l.Rewrite(1, all), durable.ErrGap)
		l.snap(1, "state", 0)
		s.fails(l.Rewrite(2, all), durable.ErrGap)
		l.holds(0, "1 a", "2 b")
	}},

	{"rewriting ends with the callback's error", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a")
		l.snap(1, "state", 0)
		stop := errors.New("stop")
		s.fails(l.Rewrite(1, func(uint64, []byte) ([]byte, bool, error) { return []byte("x"), true, stop }), stop)
		l.holds(0, "1 a")
	}},

	{"rewriting can run at the same time as appends and snapshots", func(s *subject) {
		const n = 300
		l := s.log("codelab/1")
		l.add(1, "secret")
		l.snap(1, "state", 0)
		var both sync.WaitGroup
		var stored atomic.Uint64
		stored.Store(1)
		both.Go(func() {
			outcomes := make(chan error, n)
			for seq := uint64(2); seq <= n; seq++ {
				if err := l.Append(durable.Batch{First: seq, Records: records("r"), Done: func(err error) { outcomes <- err }}); err != nil {
					s.Error(err)
					return
				}
				if err := <-outcomes; err != nil {
					s.Error(err)
					return
				}
				if seq%50 == 0 {
					done := func(err error) {
						if err != nil {
							s.Error(err)
						}
						stored.Store(seq)
					}
					if err := l.Snapshot(seq, []byte("state"), seq/2, done); err != nil {
						s.Error(err)
					}
				}
			}
		})
		both.Go(func() {
			for range 20 {
				limit := stored.Load()
				err := l.Rewrite(limit, func(seq uint64, record []byte) ([]byte, bool, error) {
					if seq > limit {
						s.Errorf("the callback was passed record %d, the limit is %d", seq, limit)
					}
					return []byte("x"), string(record) == "r", nil
				})
				if err != nil {
					s.Error(err)
				}
			}
		})
		both.Wait()
		s.reopen() // waits until the snapshots are stored
		l = s.log("codelab/1")
		got := l.replayed(n / 2)
		if len(got) != n/2 {
			s.Fatalf("%d records are left after %d", len(got), n/2)
		}
		for i, r := range got {
			if seq := n/2 + i + 1; r != fmt.Sprint(seq, " x") && r != fmt.Sprint(seq, " r") {
				s.Fatalf("record %d is %q", seq, r)
			}
		}
	}},
}
