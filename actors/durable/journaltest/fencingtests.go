package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"atelier/actors/durable"
)

var fencingTests = []conformance{
	{"a newer handle fences the older", func(s *subject) {
		old := s.log("codelab/1")
		old.add(1, "a")
		l := s.log("codelab/1")
		s.fails(old.tryAdd(2, "x"), durable.ErrFenced)
		s.fails(old.tryAdd(2, "x"), durable.ErrFenced)
		s.fails(old.trySnap(1, "state", 0), durable.ErrFenced)
		s.fails(old.Rewrite(0, func(uint64, []byte) ([]byte, bool, error) { return nil, false, nil }), durable.ErrFenced)
		l.add(2, "b")
		old.Close() // must not affect the newer handle
		l.add(3, "c")
		l.holds(0, "1 a", "2 b", "3 c")
	}},

	{"handles of other actors are not fenced", func(s *subject) {
		a := s.log("codelab/1")
		s.log("codelab/2")
		a.add(1, "a")
	}},

	// This is the race against which fencing protects: an old incarnation appends as fast as it can
	// while its successor opens the log.
	{"queued batches of an old incarnation are visible or fail", func(s *subject) {
		for round := range 20 {
			actor := fmt.Sprint("codelab/", round)
			old := s.log(actor)
			started := make(chan struct{})
			var acked []string // read only after fenced.Wait
			var fenced sync.WaitGroup
			fenced.Go(func() {
				outcomes := make(chan error, 1)
				for seq := uint64(1); ; seq++ {
					content := fmt.Sprint("r", seq)
					err := old.Append(durable.Batch{First: seq, Records: records(content), Done: func(err error) { outcomes <- err }})
					if err == nil {
						err = <-outcomes
					}
					if seq == uint64(round)+1 {
						close(started)
					}
					if err != nil {
						if !errors.Is(err, durable.ErrFenced) {
							s.Errorf("the fenced handle failed with %v", err)
						}
						return
					}
					acked = append(acked, fmt.Sprint(seq, " ", content))
				}
			})
			<-started
			l := s.log(actor)
			seen := l.replayed(0)
			fenced.Wait()
			if !slices.Equal(seen, acked) {
				s.Fatalf("the new handle reads %d records, the old one got acks for %d", len(seen), len(acked))
			}
			l.add(uint64(len(seen))+1, "new")
		}
	}},

	{"an old incarnation's queued batches come before the new handle", func(s *subject) {
		old := s.log("codelab/1")
		release := s.blockWriter()
		var queued []outcome
		var want []string
		for seq := uint64(1); seq <= 20; seq++ {
			queued = append(queued, old.queue(seq, "r"))
			want = append(want, fmt.Sprint(seq, " r"))
		}
		opened := make(chan handle, 1)
		go func() {
			l, err := s.Journal.Open("codelab/1")
			if err != nil {
				s.Error(err)
			}
			opened <- handle{Log: l, s: s}
		}()
		release()
		l := <-opened
		for _, o := range queued {
			s.must(<-o)
		}
		l.holds(0, want...)
		l.add(21, "new")
	}},
}

// blockWriter blocks the writer's goroutine until release is called. It does so by waiting in a
// done callback, which users of a journal must not do.
func (s *subject) blockWriter() (release func()) {
	blocked, free := make(chan struct{}), make(chan struct{})
	s.must(s.Append([]durable.Row{{Table: "block", Key: []byte("k")}}, func(error) {
		close(blocked)
		<-free
	}))
	<-blocked
	return sync.OnceFunc(func() { close(free) })
}
