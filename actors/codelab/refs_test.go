package codelab

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Refs find the same references as a scan of all of them, whether a person has few or many.
func TestReferencesAreFoundWithAndWithoutAnIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	now := time.UnixMilli(1_800_000_000_000)
	var r refs
	var all []*pb.Ref
	for i := range 30_000 {
		now = now.Add(time.Duration(rng.IntN(100)) * time.Millisecond)
		// The first person has many references, the last one few.
		person := fmt.Sprint("p", min(rng.IntN(8), rng.IntN(8), rng.IntN(8)))
		ref := fmt.Sprint(rng.IntN(1_000))
		want, known := uint64(0), false
		for _, e := range slices.Backward(all) {
			if e.At <= now.Add(-refsFor).UnixMilli() {
				break
			}
			if e.Person == person && e.Ref == ref {
				want, known = e.Seq, true
				break
			}
		}
		if seq, ok := r.find(person, ref, now); seq != want || ok != known {
			t.Fatalf("after %d references, find returned %d, %v; want %d, %v", i, seq, ok, want, known)
		}
		if !known {
			r.add(person, ref, uint64(i+1), now.UnixMilli())
			all = append(all, &pb.Ref{Person: person, Ref: ref, Seq: uint64(i + 1), At: now.UnixMilli()})
		}
		switch rng.IntN(2_000) {
		case 0:
			r.forget(person)
			all = slices.DeleteFunc(all, func(e *pb.Ref) bool { return e.Person == person })
		case 1:
			stored := r.queue
			r = refs{}
			r.restore(stored)
		}
	}
	r.expire(now.Add(refsFor).UnixMilli())
	if len(r.queue)+len(r.people) != 0 {
		t.Fatalf("after all have expired, %v %v are left", r.queue, r.people)
	}
}

func TestAPersonsReferencesAreBounded(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	var r refs
	for i := range refsPerPerson {
		if err := r.admit("p", now); err != nil {
			t.Fatalf("reference %d: %v", i, err)
		}
		r.add("p", fmt.Sprint(i), uint64(i), now.UnixMilli())
	}
	if r.admit("p", now) == nil || r.admit("q", now) != nil {
		t.Error("admit does not refuse exactly the person at the limit")
	}
	if err := r.admit("p", now.Add(refsFor)); err != nil {
		t.Errorf("after ten minutes: %v", err)
	}
}

// BenchmarkRestoreReferences restores a million references of 10,000 people, as after a crash.
func BenchmarkRestoreReferences(b *testing.B) {
	all := make([]*pb.Ref, 1_000_000)
	for b.Loop() {
		b.StopTimer()
		for i := range all {
			all[i] = &pb.Ref{Person: fmt.Sprintf("01a22d19-1d36-7000-a31c-%012d", i%10_000), Ref: fmt.Sprint(i), Seq: uint64(i), At: 1}
		}
		runtime.GC()
		b.StartTimer()
		var r refs
		r.restore(all)
	}
}

// A repeated reference is recognised for ten minutes, to the millisecond, even after a snapshot.
func TestReferencesAreRecognisedForTenMinutes(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	cmd := Command{Caller: admin, Ref: "r1", Body: PostChat{Message: "once"}}
	if _, err := l.do(cmd); err != nil {
		t.Fatal(err)
	}
	at := l.seq
	state, err := EncodeState(l.Capture())
	if err != nil {
		t.Fatal(err)
	}
	restored := l.empty()
	if err := restored.Restore(l.seq, state); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*State{"live": l.State, "restored": restored} {
		for _, tc := range []struct {
			after time.Duration
			again bool
		}{{0, false}, {10*time.Minute - time.Millisecond, false}, {10 * time.Minute, true}} {
			d, err := s.Decide(cmd, durable.Env{Now: l.now.Add(tc.after), Seq: l.seq + 1})
			if err != nil || (len(d.Events) > 0) != tc.again || !tc.again && d.Seq != at {
				t.Errorf("%s, %v later: %d events with seq %d, %v", name, tc.after, len(d.Events), d.Seq, err)
			}
		}
	}
}
