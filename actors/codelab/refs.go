package codelab

import (
	"hash/maphash"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

const (
	// refsFor is how long a person's reference is stored.
	refsFor = 10 * time.Minute
	// refsPerPerson bounds the stored refs per person: 20 messages per second for refsFor.
	refsPerPerson = 12_000
)

// refs contains the references of executed commands, in the order of their commits. The index is by
// hash, because indexing by the two texts of a reference takes five times as long. This matters
// after a crash, when up to a million references must be indexed before the first answer.
type refs struct {
	queue []*pb.Ref // oldest first; captures share its array, so it only grows
	index map[uint64]*pb.Ref
	// second contains the references whose hash another reference already uses in index.
	second map[refKey]*pb.Ref
	count  map[string]int // by person
}

type refKey struct{ person, ref string }

var refSeed = maphash.MakeSeed()

func (k refKey) hash() uint64 { return maphash.Comparable(refSeed, k) }

func (k refKey) is(e *pb.Ref) bool { return e != nil && e.Person == k.person && e.Ref == k.ref }

// find returns the seq of the command that was executed with a reference in the last ten minutes.
func (r *refs) find(person, ref string, now time.Time) (uint64, bool) {
	k := refKey{person, ref}
	e := r.index[k.hash()]
	if !k.is(e) {
		e = r.second[k]
	}
	if e == nil || e.At <= now.Add(-refsFor).UnixMilli() {
		return 0, false
	}
	return e.Seq, true
}

// admit rejects a reference beyond a person's bound. It drops expired references, although Decide
// must not change the state; this is not visible.
func (r *refs) admit(person string, now time.Time) error {
	r.expire(now.UnixMilli())
	if r.count[person] >= refsPerPerson {
		return durable.Reject(durable.Conflict, "too many messages with a ref in the last ten minutes")
	}
	return nil
}

func (r *refs) add(person, ref string, seq uint64, at int64) {
	r.expire(at)
	r.file(&pb.Ref{Person: person, Ref: ref, Seq: seq, At: at})
}

// restore sets the references of a snapshot.
func (r *refs) restore(all []*pb.Ref) {
	r.index, r.count = make(map[uint64]*pb.Ref, len(all)), map[string]int{}
	for _, e := range all {
		r.file(e)
	}
}

func (r *refs) file(e *pb.Ref) {
	if r.index == nil {
		r.index, r.count = map[uint64]*pb.Ref{}, map[string]int{}
	}
	k := refKey{e.Person, e.Ref}
	h := k.hash()
	if other := r.index[h]; other == nil || k.is(other) {
		r.index[h] = e
	} else {
		if r.second == nil {
			r.second = map[refKey]*pb.Ref{}
		}
		r.second[k] = e
	}
	r.queue = append(r.queue, e)
	r.count[e.Person]++
}

// unfile removes a reference from the index.
func (r *refs) unfile(e *pb.Ref) {
	k := refKey{e.Person, e.Ref}
	if h := k.hash(); r.index[h] == e {
		delete(r.index, h)
	} else if r.second[k] == e {
		delete(r.second, k)
	}
	if r.count[e.Person]--; r.count[e.Person] == 0 {
		delete(r.count, e.Person)
	}
}

func (r *refs) expire(now int64) {
	limit, n := now-refsFor.Milliseconds(), 0
	for n < len(r.queue) && r.queue[n].At <= limit {
		r.unfile(r.queue[n])
		n++
	}
	r.queue = r.queue[n:]
}

// forget drops a person's references.
func (r *refs) forget(person string) {
	if r.count[person] == 0 {
		return
	}
	kept := make([]*pb.Ref, 0, len(r.queue))
	for _, e := range r.queue {
		if e.Person == person {
			r.unfile(e)
		} else {
			kept = append(kept, e)
		}
	}
	r.queue = kept
}
