package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"atelier/actors/durable"
)

var storeTests = []conformance{
	{"invalid actor names are refused", func(s *subject) {
		for _, actor := range []string{"", "nul\x00", strings.Repeat("n", 257)} {
			if _, err := s.Journal.Open(actor); err == nil {
				s.Errorf("actor %q was accepted", actor)
			}
		}
	}},

	{"actors are listed in order", func(s *subject) {
		for _, actor := range []string{"token/1", "codelab/2", "codelab/1", "codelab/10", "codelab", "codelab/1/x"} {
			s.log(actor).add(1, "r")
		}
		s.log("codelab/1").add(2, "r")
		s.log("codelab/empty")
		only := s.log("codelab/snap")
		only.add(1, "r")
		only.snap(1, "state", 1)

		all := []string{"codelab", "codelab/1", "codelab/1/x", "codelab/10", "codelab/2", "codelab/snap", "token/1"}
		s.lists("", all...)
		s.lists("codelab/", all[1:6]...)
		s.lists("codelab/1", all[1:4]...)
		s.lists("none")
		s.must(s.Actors("", func(actor string) bool {
			if actor != all[0] {
				s.Errorf("the listing continued with %q", actor)
			}
			return false
		}))
	}},

	{"actors are listed once, however long their logs are", func(s *subject) {
		var all []string
		for i := range 16 {
			actor := fmt.Sprintf("codelab/%02d", i)
			l := s.log(actor)
			for seq := range uint64(i + 1) {
				l.add(seq+1, "r")
			}
			all = append(all, actor)
		}
		s.lists("codelab/", all...)
		s.lists("codelab/0", all[:10]...)
		s.lists("codelab/15", all[15])
	}},

	{"a purged actor has no records and its handle is fenced", func(s *subject) {
		for _, actor := range []string{"a", "a/b", "ab", "b"} {
			l := s.log(actor)
			l.add(1, "r")
			l.add(2, "r")
			l.snap(2, strings.Repeat("s", 1<<20), 1)
		}
		l := s.log("a")
		s.must(s.Purge("a"))
		s.fails(l.tryAdd(3, "x"), durable.ErrFenced)
		s.lists("", "a/b", "ab", "b")
		l = s.log("a")
		l.loads("", 0)
		l.holds(0)
		l.add(1, "new")
		s.reopen()
		s.lists("", "a", "a/b", "ab", "b")
		s.log("a").holds(0, "1 new")
		s.log("ab").holds(0, "2 r")
	}},

	{"purging a missing actor succeeds", func(s *subject) {
		s.must(s.Purge("codelab/none"))
	}},

	{"a full queue returns ErrBusy and loses no batch", func(s *subject) {
		l := s.log("codelab/1")
		release := s.blockWriter()
		defer release()
		content := strings.Repeat("r", 256<<10)
		var accepted []outcome
		for seq := uint64(1); ; seq++ {
			done, o := newOutcome()
			err := l.Append(durable.Batch{First: seq, Records: records(content), Done: done})
			if errors.Is(err, durable.ErrBusy) {
				break
			}
			s.must(err)
			accepted = append(accepted, o)
			if seq > 4096 {
				s.Fatal("the queue accepts more than a gigabyte")
			}
		}
		release()
		for _, o := range accepted {
			s.must(<-o)
		}
		// A refused append can be repeated.
		l.add(uint64(len(accepted))+1, "next")
		if got := len(l.replayed(0)); got != len(accepted)+1 {
			s.Fatalf("%d batches were appended, but there are %d records", len(accepted)+1, got)
		}
	}},

	{"closing commits queued batches", func(s *subject) {
		l := s.log("codelab/1")
		var queued []outcome
		for seq := uint64(1); seq <= 100; seq++ {
			queued = append(queued, l.queue(seq, "r"))
		}
		s.reopen()
		for _, o := range queued {
			s.must(<-o)
		}
		if got := len(s.log("codelab/1").replayed(0)); got != 100 {
			s.Fatalf("there are %d records, want 100", got)
		}
	}},

	{"a closed journal refuses every call", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a")
		s.must(s.Journal.Close())
		_, openErr := s.Journal.Open("codelab/1")
		_, getErr := s.Get("t", []byte("k"))
		_, loadErr := ReadWhole(l, 0)
		for what, err := range map[string]error{
			"open":        openErr,
			"get":         getErr,
			"load":        loadErr,
			"scan":        s.Scan(durable.Scan{Table: "t"}, nil),
			"actors":      s.Actors("", nil),
			"purge":       s.Purge("codelab/1"),
			"append rows": s.Append([]durable.Row{put("t", "k", "v")}, s.neverDone()),
			"append":      l.Append(durable.Batch{First: 2, Records: records("b"), Done: s.neverDone()}),
			"replay":      l.Replay(0, nil),
			"snapshot":    l.Snapshot(1, nil, 1, s.neverDone()),
			"rewrite":     l.Rewrite(1, nil),
		} {
			if !errors.Is(err, durable.ErrClosed) {
				s.Errorf("%s: got error %v", what, err)
			}
		}
		l.Close()
		s.must(s.Journal.Close())
	}},

	{"many logs can be appended to at once", func(s *subject) {
		const logs, each = 50, 40
		var all sync.WaitGroup
		for i := range logs {
			l := s.log(fmt.Sprint("codelab/", i))
			all.Go(func() {
				done := make(chan error, 1)
				for seq := uint64(1); seq <= each; seq++ {
					row := put("t", fmt.Sprint(i), fmt.Sprint(seq))
					err := l.Append(durable.Batch{First: seq, Records: records("r"), Rows: []durable.Row{row}, Done: func(err error) { done <- err }})
					if err == nil {
						err = <-done
					}
					if err != nil {
						s.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		s.reopen()
		for i := range logs {
			if got := len(s.log(fmt.Sprint("codelab/", i)).replayed(0)); got != each {
				s.Fatalf("log %d has %d records", i, got)
			}
			s.has("t", fmt.Sprint(i), fmt.Sprint(each))
		}
	}},
}

func (s *subject) lists(prefix string, want ...string) {
	s.Helper()
	var got []string
	s.must(s.Actors(prefix, func(actor string) bool {
		got = append(got, actor)
		return true
	}))
	if !slices.Equal(got, want) {
		s.Fatalf("actors %q: got %q, want %q", prefix, got, want)
	}
}
