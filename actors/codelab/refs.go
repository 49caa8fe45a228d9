package codelab

import (
	"slices"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

const (
	// refsFor is how long a person's reference is stored.
	refsFor = 10 * time.Minute
	// refsPerPerson bounds the stored refs per person: 20 messages per second for refsFor.
	refsPerPerson = 12_000
	// fewRefs is how many references of a person are compared one by one.
	fewRefs = 16
)

// refs contains the references of executed commands. After a crash, up to a million of them must be
// restored before the first answer. Only people who send another command need an index, and only of
// their own references. With one index of all references, restoring takes five times as long.
type refs struct {
	// queue is in the order of the commits. Its elements are never overwritten, because captures
	// share its array.
	queue  []*pb.Ref
	people map[string]*ownRefs
}

// ownRefs contains the references of a person.
type ownRefs struct {
	all   []*pb.Ref          // oldest first, at least one
	index map[string]*pb.Ref // nil until it is needed
}

// find returns the seq of the command that was executed with a reference in the last ten minutes.
// It can build an index. Decide must not change the state, but this change is not visible.
func (r *refs) find(person, ref string, now time.Time) (uint64, bool) {
	own := r.people[person]
	if own == nil {
		return 0, false
	}
	e := own.find(ref)
	if e == nil || e.At <= now.Add(-refsFor).UnixMilli() {
		return 0, false
	}
	return e.Seq, true
}

// find returns the latest entry of a reference, or nil.
func (o *ownRefs) find(ref string) *pb.Ref {
	if o.index == nil {
		if len(o.all) <= fewRefs {
			for _, e := range slices.Backward(o.all) {
				if e.Ref == ref {
					return e
				}
			}
			return nil
		}
		o.index = make(map[string]*pb.Ref, len(o.all))
		for _, e := range o.all {
			o.index[e.Ref] = e
		}
	}
	return o.index[ref]
}

// admit rejects a reference beyond a person's bound. It also drops expired references. Decide must
// not change the state, but this change is not visible.
func (r *refs) admit(person string, now time.Time) error {
	r.expire(now.UnixMilli())
	if own := r.people[person]; own != nil && len(own.all) >= refsPerPerson {
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
	r.queue, r.people = make([]*pb.Ref, 0, len(all)), map[string]*ownRefs{}
	for _, e := range all {
		r.file(e)
	}
}

// file appends a reference. All references of a person share the text of their id.
func (r *refs) file(e *pb.Ref) {
	own := r.people[e.Person]
	if own == nil {
		if r.people == nil {
			r.people = map[string]*ownRefs{}
		}
		own = &ownRefs{}
		r.people[e.Person] = own
	} else {
		e.Person = own.all[0].Person
	}
	own.all = append(own.all, e)
	if own.index != nil {
		own.index[e.Ref] = e
	}
	r.queue = append(r.queue, e)
}

func (r *refs) expire(now int64) {
	limit, n := now-refsFor.Milliseconds(), 0
	for n < len(r.queue) && r.queue[n].At <= limit {
		r.dropOldest(r.queue[n].Person)
		n++
	}
	r.queue = r.queue[n:]
}

// dropOldest removes a person's oldest reference.
func (r *refs) dropOldest(person string) {
	own := r.people[person]
	e := own.all[0]
	if own.index[e.Ref] == e {
		delete(own.index, e.Ref)
	}
	own.all[0] = nil
	if own.all = own.all[1:]; len(own.all) == 0 {
		delete(r.people, person)
	}
}

// forget drops a person's references.
func (r *refs) forget(person string) {
	own := r.people[person]
	if own == nil {
		return
	}
	kept := make([]*pb.Ref, 0, len(r.queue)-len(own.all))
	for _, e := range r.queue {
		if e.Person != person {
			kept = append(kept, e)
		}
	}
	r.queue = kept
	delete(r.people, person)
}
