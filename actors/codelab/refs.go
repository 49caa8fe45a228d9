package codelab

import (
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

const (
	// refsFor is how long a reference of the same person is recognised.
	refsFor = 10 * time.Minute
	// refsPerPerson bounds what one person can make us remember: it is what
	// 20 messages a second give in refsFor.
	refsPerPerson = 12_000
)

// refs remembers which references were applied, in the order they came.
type refs struct {
	queue []*pb.Ref // oldest first; captures share its array, so it only grows
	index map[refKey]*pb.Ref
	count map[string]int // by person
}

type refKey struct{ person, ref string }

// find returns the seq a reference was applied with.
func (r *refs) find(person, ref string, now time.Time) (uint64, bool) {
	e := r.index[refKey{person, ref}]
	if e == nil || e.At <= now.Add(-refsFor).UnixMilli() {
		return 0, false
	}
	return e.Seq, true
}

// admit bounds the references of one person. Dropping what has expired is
// not a change anybody can see.
func (r *refs) admit(person string, now time.Time) error {
	r.expire(now.UnixMilli())
	if r.count[person] >= refsPerPerson {
		return durable.Reject(durable.Conflict, "too many messages with a ref in the last ten minutes")
	}
	return nil
}

func (r *refs) add(person, ref string, seq uint64, at int64) {
	r.expire(at)
	if r.index == nil {
		r.index, r.count = map[refKey]*pb.Ref{}, map[string]int{}
	}
	e := &pb.Ref{Person: person, Ref: ref, Seq: seq, At: at}
	r.queue = append(r.queue, e)
	r.index[refKey{person, ref}] = e
	r.count[person]++
}

func (r *refs) expire(now int64) {
	limit, n := now-refsFor.Milliseconds(), 0
	for n < len(r.queue) && r.queue[n].At <= limit {
		e := r.queue[n]
		k := refKey{e.Person, e.Ref}
		if r.index[k] == e {
			delete(r.index, k)
		}
		if r.count[e.Person]--; r.count[e.Person] == 0 {
			delete(r.count, e.Person)
		}
		n++
	}
	r.queue = r.queue[n:]
}

// forget drops what a person's references were.
func (r *refs) forget(person string) {
	if r.count[person] == 0 {
		return
	}
	kept := make([]*pb.Ref, 0, len(r.queue))
	for _, e := range r.queue {
		if e.Person == person {
			delete(r.index, refKey{e.Person, e.Ref})
		} else {
			kept = append(kept, e)
		}
	}
	r.queue = kept
	delete(r.count, person)
}
