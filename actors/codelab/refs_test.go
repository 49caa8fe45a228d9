package codelab

import (
	"testing"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// References with equal hashes are still distinguished: the hash only locates a reference.
func TestReferencesWithEqualHashesAreDistinct(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	at := now.UnixMilli()
	second := refKey{"b", "2"}
	first := &pb.Ref{Person: "a", Ref: "1", Seq: 1, At: at}
	var r refs
	r.file(first)
	r.index[second.hash()] = first // simulates two references with the same hash
	if _, ok := r.find("b", "2", now); ok {
		t.Fatal("found a reference that was never added")
	}
	r.add("b", "2", 2, at)
	if seq, ok := r.find("b", "2", now); !ok || seq != 2 {
		t.Fatalf("find returned %d, %v; want 2", seq, ok)
	}
	if seq, ok := r.find("a", "1", now); !ok || seq != 1 {
		t.Fatalf("find returned %d, %v; want 1", seq, ok)
	}
	r.expire(at + refsFor.Milliseconds())
	if len(r.queue)+len(r.second)+len(r.count) != 0 {
		t.Fatalf("after all have expired, %v %v %v are left", r.queue, r.second, r.count)
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
