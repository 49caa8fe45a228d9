package codelab

import (
	"testing"
	"time"

	pb "atelier/actors/codelab/codelabpb"
)

// TestReferencesWithOneHashAreTwo: the hash is a place to look, not the
// reference.
func TestReferencesWithOneHashAreTwo(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	at := now.UnixMilli()
	second := refKey{"b", "2"}
	first := &pb.Ref{Person: "a", Ref: "1", Seq: 1, At: at}
	var r refs
	r.file(first)
	r.index[second.hash()] = first // as if both had this hash
	if _, ok := r.find("b", "2", now); ok {
		t.Fatal("found what was never filed")
	}
	r.add("b", "2", 2, at)
	if seq, ok := r.find("b", "2", now); !ok || seq != 2 {
		t.Fatalf("found %d, %v", seq, ok)
	}
	if seq, ok := r.find("a", "1", now); !ok || seq != 1 {
		t.Fatalf("found %d, %v", seq, ok)
	}
	r.expire(at + refsFor.Milliseconds())
	if len(r.queue)+len(r.second)+len(r.count) != 0 {
		t.Fatalf("left are %v %v %v", r.queue, r.second, r.count)
	}
}
