package login

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"atelier/actors/durable"
	"atelier/actors/internal/held"
	"atelier/actors/internal/pbwire"
	pb "atelier/actors/login/loginpb"
)

// familyTable is the table of sessions: the families by a random key.
const familyTable = "sessionfamilies"

// family is all session ids that were issued from one another. Its row holds all of it, so
// a change is atomic.
type family struct {
	// Immutable.
	key []byte
	// Immutable. The key as text.
	name string

	// Held while a change is decided and written to disk.
	mu held.Lock
	// Immutable records; nil once the family has ended. Stored with mu held.
	record atomic.Pointer[pb.SessionFamily]
	// Set when the row differs from the record; a sweep writes it.
	unsaved atomic.Bool
	// Guarded by mu. The row's value, including queued commits; kept only if several nodes
	// use the store.
	value []byte
}

func newFamily() *family {
	key := make([]byte, 16)
	_, _ = rand.Read(key) // never fails
	f := &family{key: key, name: hex.EncodeToString(key)}
	f.record.Store(&pb.SessionFamily{})
	return f
}

func parseFamily(key, value []byte) (*family, *pb.SessionFamily, error) {
	rec := &pb.SessionFamily{}
	if err := rec.Decode(value); err != nil {
		return nil, nil, fmt.Errorf("session family: %w", durable.ErrCorrupt)
	}
	for _, e := range rec.Ids {
		if len(e.Hash) != len(Key{}) {
			return nil, nil, fmt.Errorf("session family: %w", durable.ErrCorrupt)
		}
	}
	return &family{key: key, name: hex.EncodeToString(key)}, rec, nil
}

// rows update the store to a record of the family; the caller holds mu.
func (f *family) rows(rec *pb.SessionFamily, now int64) []durable.Row {
	row := durable.Row{Table: familyTable, Key: f.key, Delete: true}
	if last := lasts(rec); last > now {
		value := pbwire.Encode(rec)
		row = durable.Row{Table: familyTable, Key: f.key, Value: value, TTL: time.Duration(last-now) * time.Millisecond}
	}
	return []durable.Row{row}
}

// find returns an id of a record, or nil.
func find(rec *pb.SessionFamily, id []byte) *pb.SessionId {
	for _, e := range rec.GetIds() {
		if bytes.Equal(e.Hash, id) {
			return e
		}
	}
	return nil
}

// lasts is when the last id of a record ends.
func lasts(rec *pb.SessionFamily) (last int64) {
	for _, e := range rec.GetIds() {
		last = max(last, e.ExpiresAt)
	}
	return last
}

// pruned is a copy of a record without ended ids and grants. Entries are shared: they are
// replaced, never changed.
func pruned(rec *pb.SessionFamily, now int64) *pb.SessionFamily {
	out := &pb.SessionFamily{}
	over := func(_ string, g *pb.AttendeeGrant) bool { return g.ExpiresAt <= now }
	for _, e := range rec.GetIds() {
		if e.ExpiresAt <= now {
			continue
		}
		late := e.By != nil && now-e.By.At > underWay.Milliseconds()
		for _, g := range e.Attendees {
			late = late || over("", g)
		}
		if late {
			e = changed(e)
			maps.DeleteFunc(e.Attendees, over)
			if e.By != nil && now-e.By.At > underWay.Milliseconds() {
				e.By = nil
			}
		}
		out.Ids = append(out.Ids, e)
	}
	return out
}

// changed is a copy of an entry, to be changed.
func changed(e *pb.SessionId) *pb.SessionId {
	all := maps.Clone(e.Attendees)
	if all == nil {
		all = map[string]*pb.AttendeeGrant{}
	}
	return &pb.SessionId{Hash: e.Hash, ExpiresAt: e.ExpiresAt, Replaces: e.Replaces, Admin: e.Admin, Attendees: all, By: e.By}
}

// give adds a grant to a new entry.
func give(e *pb.SessionId, codelab string, g *pb.AttendeeGrant) {
	e.Attendees[codelab] = g
	e.ExpiresAt = max(e.ExpiresAt, g.ExpiresAt)
}

// used is a record after an id was used for the first time: the one it replaces expires
// within a minute.
func used(rec *pb.SessionFamily, id []byte, now int64) *pb.SessionFamily {
	out := pruned(rec, now)
	replaced := find(out, id).GetReplaces()
	for i, e := range out.Ids {
		switch {
		case bytes.Equal(e.Hash, id):
			e = changed(e)
			e.Replaces, e.By = nil, nil
		case bytes.Equal(e.Hash, replaced):
			e = changed(e)
			e.ExpiresAt = min(e.ExpiresAt, now+lastMinute.Milliseconds())
		}
		out.Ids[i] = e
	}
	return out
}

// attendeesIn are the attendees with grants in a record.
func attendeesIn(rec *pb.SessionFamily) map[string]bool {
	all := map[string]bool{}
	for _, e := range rec.GetIds() {
		for _, g := range e.Attendees {
			if g.AttendeeId != "" {
				all[g.AttendeeId] = true
			}
		}
	}
	return all
}

// crowded returns the id to drop for another, -1 if there is room. It is the oldest unused
// one, else the oldest. from stays.
func crowded(ids []*pb.SessionId, from []byte) int {
	if len(ids) < maxIDs {
		return -1
	}
	oldest := -1
	for i, e := range ids {
		switch {
		case bytes.Equal(e.Hash, from):
		case len(e.Replaces) > 0:
			return i
		case oldest < 0:
			oldest = i
		}
	}
	return oldest
}
