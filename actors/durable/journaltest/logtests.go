package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier/actors/durable"
)

var logTests = []conformance{
	{"an empty log has no records", func(s *subject) {
		l := s.log("codelab/1")
		whole, err := ReadWhole(l, Everything)
		s.must(err)
		if whole.State != nil || whole.Seq != 0 || whole.Tail != 0 {
			s.Fatalf("load: got %q at %d of %d", whole.State, whole.Seq, whole.Tail)
		}
		l.holds(0)
	}},

	{"batches of one log are committed in order", func(s *subject) {
		const n = 200
		l := s.log("codelab/1")
		var finished []uint64 // written by the one goroutine that calls Done
		all := make(chan struct{})
		var want []string
		for seq := uint64(1); seq <= n; seq++ {
			content := fmt.Sprint("r", seq)
			want = append(want, fmt.Sprint(seq, " ", content))
			s.must(l.Append(durable.Batch{First: seq, Records: records(content), Done: func(err error) {
				if err == nil {
					finished = append(finished, seq)
				}
				if seq == n {
					close(all)
				}
			}}))
		}
		<-all
		if len(finished) != n || !slices.IsSorted(finished) {
			s.Fatalf("done was called for %v", finished)
		}
		l.holds(0, want...)
	}},

	{"records survive reopening", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b")
		l.add(3, "c")
		s.reopen()
		l = s.log("codelab/1")
		l.holds(0, "1 a", "2 b", "3 c")
		l.add(4, "d")
		l.holds(0, "1 a", "2 b", "3 c", "4 d")
	}},

	{"replay starts after any record", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b", "c")
		l.add(4, "d", "e")
		all := []string{"1 a", "2 b", "3 c", "4 d", "5 e"}
		for after := range all {
			l.holds(uint64(after), all[after:]...)
		}
		l.holds(5)
		l.holds(1000)
		l.holds(^uint64(0))
	}},

	{"replay stops at the callback's error", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b", "c")
		stop := errors.New("stop")
		calls := 0
		s.fails(l.Replay(0, func(uint64, []byte) error { calls++; return stop }), stop)
		if calls != 1 {
			s.Fatalf("the callback was called %d times, want 1", calls)
		}
	}},

	{"load returns the newest records besides those after the snapshot", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b", "c")
		l.add(4, "d", "e")
		l.snap(3, "state", 0)
		for history, want := range [][]string{
			{"4 d", "5 e"}, {"4 d", "5 e"}, {"4 d", "5 e"}, {"3 c", "4 d", "5 e"}, {"2 b", "3 c", "4 d", "5 e"}, {"1 a", "2 b", "3 c", "4 d", "5 e"},
		} {
			whole, err := ReadWhole(l, uint64(history))
			s.must(err)
			if !slices.Equal(whole.Records, want) || whole.Tail != 5 {
				s.Fatalf("with a history of %d the records are %q, the tail is %d", history, whole.Records, whole.Tail)
			}
		}
	}},

	{"load stops at the error of either function", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a", "b", "c")
		stop := errors.New("stop")
		calls := 0
		record := func(uint64, []byte) error { calls++; return stop }
		s.fails(l.Load(0, func(durable.Snapshot) error { return stop }, record), stop)
		if calls != 0 {
			s.Fatalf("records were passed %d times", calls)
		}
		s.fails(l.Load(0, func(durable.Snapshot) error { return nil }, record), stop)
		if calls != 1 {
			s.Fatalf("records were passed %d times", calls)
		}
	}},

	{"a follower of a log reads committed records and fences nobody", func(s *subject) {
		l := s.log("codelab/1")
		r, err := s.Follow("codelab/1")
		s.must(err)
		defer r.Close()
		for seq := uint64(1); seq <= 3; seq++ {
			l.add(seq, "r")
			tail, err := r.Tail()
			s.must(err)
			whole, err := ReadWhole(r, 0)
			s.must(err)
			if tail != seq || whole.Tail != seq || uint64(len(whole.Records)) != seq {
				s.Fatalf("after record %d the tail is %d, and the records are %q", seq, tail, whole.Records)
			}
		}
		l.snap(2, "state", 0)
		whole, err := ReadWhole(r, 0)
		s.must(err)
		if string(whole.State) != "state" || !slices.Equal(whole.Records, []string{"3 r"}) {
			s.Fatalf("load returned %+v", whole)
		}
		var behind Whole
		s.must(r.Replay(2, behind.add))
		if !slices.Equal(behind.Records, whole.Records) {
			s.Fatalf("replay returned %q", behind.Records)
		}
		l.add(4, "r")
	}},

	{"records may be empty", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "", "a", "")
		l.holds(0, "1 ", "2 a", "3 ")
	}},

	{"logs do not mix", func(s *subject) {
		names := []string{"a", "a/b", "ab", "a\x01", "a\xff", strings.Repeat("n", 256)}
		for _, name := range names {
			s.log(name).add(1, "of "+name)
		}
		for _, name := range names {
			s.log(name).holds(0, "1 of "+name)
		}
	}},

	{"a batch must continue the log", func(s *subject) {
		for i, first := range []uint64{0, 1, 2, 4, 1000} {
			l := s.log(fmt.Sprint("codelab/", i))
			l.add(1, "a", "b")
			s.fails(<-l.queue(first, "x"), durable.ErrGap)
			l.holds(0, "1 a", "2 b")
		}
	}},

	{"after a failed batch every later batch of the handle fails", func(s *subject) {
		l := s.log("codelab/1")
		l.add(1, "a")
		failed, later := l.queue(3, "c"), l.queue(2, "b")
		s.fails(<-failed, durable.ErrGap)
		if err := <-later; err == nil {
			s.Fatal("a batch was committed after a failed one")
		}
		if err := l.trySnap(1, "state", 0); err == nil {
			s.Fatal("a snapshot was stored after a failed batch")
		}
		l = s.log("codelab/1")
		l.add(2, "b")
		l.holds(0, "1 a", "2 b")
	}},

	{"a batch without records is refused", func(s *subject) {
		l := s.log("codelab/1")
		if err := l.Append(durable.Batch{First: 1, Done: s.neverDone()}); err == nil {
			s.Fatal("a batch without records was accepted")
		}
		l.add(1, "a")
	}},

	{"a damaged run of records is refused", func(s *subject) {
		l := s.log("codelab/1")
		cut := records("abc")[:2]
		s.fails(l.Append(durable.Batch{First: 1, Records: cut, Done: s.neverDone()}), durable.ErrCorrupt)
		l.add(1, "a")
	}},

	{"a record of 48 MiB is one batch", func(s *subject) {
		l := s.log("codelab/1")
		big := strings.Repeat("0123456789abcdef", 3<<20)
		l.add(1, "before", big, "behind")
		l.add(4, "next")
		s.reopen()
		var sizes []int
		s.must(s.log("codelab/1").Replay(0, func(seq uint64, record []byte) error {
			sizes = append(sizes, len(record))
			if seq == 2 && string(record) != big {
				s.Error("the large record was changed")
			}
			return nil
		}))
		if !slices.Equal(sizes, []int{6, len(big), 6, 4}) {
			s.Fatalf("the records have the sizes %v", sizes)
		}
	}},

	{"a batch that is too large is refused", func(s *subject) {
		l := s.log("codelab/1")
		huge := durable.Records(nil).Add(make([]byte, 128<<20))
		s.fails(l.Append(durable.Batch{First: 1, Records: huge, Done: s.neverDone()}), durable.ErrTooLarge)
		l.add(1, "a")
	}},

	{"done may be nil", func(s *subject) {
		l := s.log("codelab/1")
		s.must(l.Append(durable.Batch{First: 1, Records: records("a")}))
		l.add(2, "b")
		l.holds(0, "1 a", "2 b")
	}},

	{"a closed handle refuses, and its queued batches are committed", func(s *subject) {
		l := s.log("codelab/1")
		o := l.queue(1, "a")
		l.Close()
		l.Close()
		s.must(<-o)
		s.fails(l.Append(durable.Batch{First: 2, Records: records("b"), Done: s.neverDone()}), durable.ErrClosed)
		s.log("codelab/1").holds(0, "1 a")
	}},
}

// neverDone is the callback of refused appends, which must not be called.
func (s *subject) neverDone() func(error) {
	return func(err error) { s.Errorf("done was called with %v", err) }
}
