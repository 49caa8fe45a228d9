package login

import (
	"fmt"
	"slices"

	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	pb "atelier/actors/login/loginpb"
)

// record contains the grants of a family's ids. A record and its entries are immutable, and records
// share entries. Keeping the stored message instead would need 440 bytes more per attendee
// (BenchmarkMemoryOfASession).
type record struct{ ids []*entry }

// entry is one id of a family. Times are Unix milliseconds.
type entry struct {
	hash    Key
	expires int64
	// replaces is the id from which this id was issued. It is nil for the first id
	// of a family, and after the first use of this id.
	replaces  *Key
	admin     *pb.AdminGrant
	attendees []AttendeeGrant // at most one per codelab
	// by is the registration that issued this id. It is kept until the id's first use, and at most
	// for a minute.
	by *pb.Registration
}

// AttendeeGrant permits acting as an attendee of a codelab. AttendeeID is "" for a grant to nobody,
// by which a browser is recognized without any rights.
type AttendeeGrant struct {
	Codelab    string
	AttendeeID string
	// ExpiresAt is in Unix milliseconds.
	ExpiresAt int64
	// Generation is the attendee's generation when the grant was issued.
	Generation uint32
}

// errCorrupt means that the row of a family is damaged.
var errCorrupt = fmt.Errorf("session family: %w", durable.ErrCorrupt)

func parseRecord(value []byte) (*record, error) {
	stored := &pb.SessionFamily{}
	if err := stored.Decode(value); err != nil {
		return nil, errCorrupt
	}
	rec := &record{ids: make([]*entry, 0, len(stored.Ids))}
	for _, id := range stored.Ids {
		if len(id.Hash) != len(Key{}) || len(id.Replaces) != 0 && len(id.Replaces) != len(Key{}) {
			return nil, errCorrupt
		}
		e := &entry{hash: Key(id.Hash), expires: id.ExpiresAt, admin: id.Admin, by: id.By}
		if len(id.Replaces) > 0 {
			replaces := Key(id.Replaces)
			e.replaces = &replaces
		}
		if len(id.Attendees) > 0 {
			e.attendees = make([]AttendeeGrant, 0, len(id.Attendees))
		}
		for codelab, g := range id.Attendees {
			e.attendees = append(e.attendees, AttendeeGrant{codelab, g.AttendeeId, g.ExpiresAt, g.Generation})
		}
		rec.ids = append(rec.ids, e)
	}
	return rec, nil
}

func (r *record) encode() []byte {
	stored := &pb.SessionFamily{Ids: make([]*pb.SessionId, 0, len(r.ids))}
	for _, e := range r.ids {
		id := &pb.SessionId{
			Hash: e.hash[:], ExpiresAt: e.expires, Admin: e.admin, By: e.by,
			Attendees: make(map[string]*pb.AttendeeGrant, len(e.attendees)),
		}
		if e.replaces != nil {
			id.Replaces = e.replaces[:]
		}
		for _, g := range e.attendees {
			id.Attendees[g.Codelab] = &pb.AttendeeGrant{AttendeeId: g.AttendeeID, ExpiresAt: g.ExpiresAt, Generation: g.Generation}
		}
		stored.Ids = append(stored.Ids, id)
	}
	return pbwire.Encode(stored)
}

// all returns the ids. A nil record, the record of an ended family, has none.
func (r *record) all() []*entry {
	if r == nil {
		return nil
	}
	return r.ids
}

// find returns an id of a record, or nil.
func (r *record) find(id Key) *entry {
	for _, e := range r.all() {
		if e.hash == id {
			return e
		}
	}
	return nil
}

// lasts returns the time at which a record's last id expires.
func (r *record) lasts() (last int64) {
	for _, e := range r.all() {
		last = max(last, e.expires)
	}
	return last
}

// pruned returns a copy of a record without expired ids, expired attendee grants and old
// registrations. The copy shares unchanged entries.
func (r *record) pruned(now int64) *record {
	out := &record{}
	over := func(g AttendeeGrant) bool { return g.ExpiresAt <= now }
	for _, e := range r.all() {
		if e.expires <= now {
			continue
		}
		answered := e.by != nil && now-e.by.At > underWay.Milliseconds()
		if answered || slices.ContainsFunc(e.attendees, over) {
			e = e.copy()
			e.attendees = slices.DeleteFunc(e.attendees, over)
			if answered {
				e.by = nil
			}
		}
		out.ids = append(out.ids, e)
	}
	return out
}

// used returns a record after the first use of an id: the id that it replaces expires within a
// minute.
func (r *record) used(id Key, now int64) *record {
	out := r.pruned(now)
	var replaced *Key
	if e := out.find(id); e != nil {
		replaced = e.replaces
	}
	for i, e := range out.ids {
		switch {
		case e.hash == id:
			e = e.copy()
			e.replaces, e.by = nil, nil
		case replaced != nil && e.hash == *replaced:
			e = e.copy()
			e.expires = min(e.expires, now+lastMinute.Milliseconds())
		}
		out.ids[i] = e
	}
	return out
}

// without returns a record in which take has changed the grants of an attendee.
func (r *record) without(now int64, attendee string, take func([]AttendeeGrant, int) []AttendeeGrant) *record {
	out := r.pruned(now)
	theirs := func(g AttendeeGrant) bool { return g.AttendeeID == attendee }
	for i, e := range out.ids {
		if !slices.ContainsFunc(e.attendees, theirs) {
			continue
		}
		e = e.copy()
		for at := len(e.attendees) - 1; at >= 0; at-- {
			if theirs(e.attendees[at]) {
				e.attendees = take(e.attendees, at)
			}
		}
		e.by = nil
		out.ids[i] = e
	}
	return out
}

// nobody replaces a grant with a grant to nobody. The browser is then still recognized, but has no
// rights, and sessions that depend on the grant notice its end.
func nobody(all []AttendeeGrant, at int) []AttendeeGrant {
	all[at].AttendeeID, all[at].Generation = "", 0
	return all
}

// nothing removes a grant.
func nothing(all []AttendeeGrant, at int) []AttendeeGrant { return slices.Delete(all, at, at+1) }

// attendees returns the attendees with grants in a record, without duplicates.
func (r *record) attendees() (all []string) {
	for _, e := range r.all() {
		for _, g := range e.attendees {
			if g.AttendeeID != "" && !slices.Contains(all, g.AttendeeID) {
				all = append(all, g.AttendeeID)
			}
		}
	}
	return all
}

// crowded returns the index of the id to remove for a new id: the oldest unused id, or else the
// oldest. It returns -1 if the family has room for another id. It never returns the index of from.
func (r *record) crowded(from *entry) int {
	if len(r.ids) < maxIDs {
		return -1
	}
	oldest := -1
	for i, e := range r.ids {
		switch {
		case from != nil && e.hash == from.hash:
		case e.replaces != nil:
			return i
		case oldest < 0:
			oldest = i
		}
	}
	return oldest
}

// copy returns a copy of an entry, for modification.
func (e *entry) copy() *entry {
	out := *e
	out.attendees = slices.Clone(e.attendees)
	return &out
}

// grant returns the attendee grant in a codelab, or nil. Only the owner of a new entry can modify
// it.
func (e *entry) grant(codelab string) *AttendeeGrant {
	if e == nil {
		return nil
	}
	for i := range e.attendees {
		if e.attendees[i].Codelab == codelab {
			return &e.attendees[i]
		}
	}
	return nil
}

// addGrant adds a grant to a new entry.
func (e *entry) addGrant(g AttendeeGrant) {
	if had := e.grant(g.Codelab); had != nil {
		*had = g
	} else {
		e.attendees = append(e.attendees, g)
	}
	e.expires = max(e.expires, g.ExpiresAt)
}
