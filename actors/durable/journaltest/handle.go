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

// records returns these strings as records.
func records(contents ...string) durable.Records {
	var r durable.Records
	for _, c := range contents {
		r = r.Add([]byte(c))
	}
	return r
}

// outcome receives the result from a done callback.
type outcome chan error

// newOutcome returns a done callback and the channel that receives its results. The channel has
// room for two, so that a test can detect a second call.
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
	h.s.must(h.tryAdd(first, contents...))
}

// tryAdd does the same as add, but returns the error. It is the error of Append if the store detects
// the cause at once, otherwise the error that Done receives.
func (h handle) tryAdd(first uint64, contents ...string) error {
	done, o := newOutcome()
	if err := h.Append(durable.Batch{First: first, Records: records(contents...), Done: done}); err != nil {
		return err
	}
	return <-o
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

// Whole is the result of Load.
type Whole struct {
	durable.Snapshot
	Records []string // as "seq content"
}

func (r *Whole) add(seq uint64, record []byte) error {
	r.Records = append(r.Records, fmt.Sprint(seq, " ", string(record)))
	return nil
}

// ReadWhole reads a whole log, including the newest history records.
func ReadWhole(from durable.LogReader, history uint64) (Whole, error) {
	var r Whole
	calls := 0
	err := from.Load(history, func(s durable.Snapshot) error {
		calls++
		r.Snapshot = s
		return nil
	}, func(seq uint64, record []byte) error {
		if calls != 1 {
			return errors.New("a record came before the snapshot")
		}
		return r.add(seq, record)
	})
	if err == nil && (calls != 1 || r.Base > r.Seq || r.Seq > r.Tail) {
		err = fmt.Errorf("%d snapshots, base %d, seq %d, tail %d", calls, r.Base, r.Seq, r.Tail)
	}
	return r, err
}

// Everything is a history longer than any log.
const Everything = ^uint64(0)

// replayed returns the stored records after a seq as "seq content". It verifies that Load and
// Replay return the same records, if the log can be replayed from there.
func (h handle) replayed(after uint64) []string {
	h.s.Helper()
	whole, err := ReadWhole(h, Everything)
	h.s.must(err)
	got := whole.Records
	for len(got) > 0 && seqOf(got[0]) <= after {
		got = got[1:]
	}
	var replay Whole
	err = h.Replay(after, replay.add)
	if after < whole.Base || after > whole.Tail {
		h.s.fails(err, durable.ErrCompacted)
		if len(replay.Records) > 0 {
			h.s.Fatalf("replay after %d, which is below the base or above the tail, returned %q", after, replay.Records)
		}
		return got
	}
	h.s.must(err)
	if !slices.Equal(replay.Records, got) {
		h.s.Fatalf("replay after %d returns %q, load %q", after, replay.Records, got)
	}
	return got
}

func seqOf(record string) (seq uint64) {
	_, _ = fmt.Sscan(record, &seq) // 0 for a record without a number
	return seq
}

// bases verifies that the base of the log is want.
func (h handle) bases(want uint64) {
	h.s.Helper()
	whole, err := ReadWhole(h, 0)
	h.s.must(err)
	if whole.Base != want {
		h.s.Fatalf("the base is %d, want %d", whole.Base, want)
	}
}

// holds verifies that the records after a seq are exactly want.
func (h handle) holds(after uint64, want ...string) {
	h.s.Helper()
	if got := h.replayed(after); !slices.Equal(got, want) {
		h.s.Fatalf("replay after %d: got %q, want %q", after, got, want)
	}
}

// loads verifies the stored snapshot and its seq.
func (h handle) loads(want string, wantSeq uint64) {
	h.s.Helper()
	whole, err := ReadWhole(h, 0)
	h.s.must(err)
	if string(whole.State) != want || whole.Seq != wantSeq {
		h.s.Fatalf("load: got %.40q at %d, want %.40q at %d", whole.State, whole.Seq, want, wantSeq)
	}
}

// fails verifies that err is or wraps want.
func (s *subject) fails(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("got error %v, want %v", err, want)
	}
}
