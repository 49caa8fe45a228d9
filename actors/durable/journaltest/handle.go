package journaltest

import (
	"errors"
	"fmt"
	"slices"

	"atelier/actors/durable"
)

// handle is a log under test.
type handle struct {
	durable.Log
	s *subject
}

// records makes a run out of strings.
func records(contents ...string) durable.Records {
	var r durable.Records
	for _, c := range contents {
		r = r.Add([]byte(c))
	}
	return r
}

// outcome is what a done callback will say.
type outcome chan error

// newOutcome returns the callback and where its answer appears. A second call
// is noticed: the channel then holds two.
func newOutcome() (func(error), outcome) {
	o := make(outcome, 2)
	return func(err error) { o <- err }, o
}

// queue appends without waiting.
func (h handle) queue(first uint64, contents ...string) outcome {
	h.s.Helper()
	done, o := newOutcome()
	h.s.must(h.Append(durable.Batch{First: first, Records: records(contents...), Done: done}))
	return o
}

// add appends and waits.
func (h handle) add(first uint64, contents ...string) {
	h.s.Helper()
	h.s.must(<-h.queue(first, contents...))
}

// snap stores a snapshot and waits.
func (h handle) snap(seq uint64, state string, keep uint64) {
	h.s.Helper()
	h.s.must(h.trySnap(seq, state, keep))
}

func (h handle) trySnap(seq uint64, state string, keep uint64) error {
	done, o := newOutcome()
	if err := h.Snapshot(seq, []byte(state), keep, done); err != nil {
		return err
	}
	return <-o
}

// replayed returns the records after a seq as "seq content".
func (h handle) replayed(after uint64) []string {
	h.s.Helper()
	var got []string
	h.s.must(h.Replay(after, func(seq uint64, record []byte) error {
		got = append(got, fmt.Sprint(seq, " ", string(record)))
		return nil
	}))
	return got
}

// holds checks the records after a seq.
func (h handle) holds(after uint64, want ...string) {
	h.s.Helper()
	if got := h.replayed(after); !slices.Equal(got, want) {
		h.s.Fatalf("replay after %d: got %q, want %q", after, got, want)
	}
}

// loads checks the snapshot.
func (h handle) loads(want string, wantSeq uint64) {
	h.s.Helper()
	state, seq, err := h.Load()
	h.s.must(err)
	if string(state) != want || seq != wantSeq {
		h.s.Fatalf("load: got %.40q at %d, want %.40q at %d", state, seq, want, wantSeq)
	}
}

// fails checks an error's kind.
func (s *subject) fails(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("got error %v, want %v", err, want)
	}
}
