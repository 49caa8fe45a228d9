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

// Tables of sessions: the families by a random key. Before there were
// families each id had a row of its own, by its hash.
const (
	familyTable = "sessionfamilies"
	legacyTable = "sessions"
)

// family is all session ids that were issued from one another. Its row holds
// all of it, so a change is whole or not there.
type family struct {
	// Immutable.
	key []byte
	// Immutable. The key as text.
	name string

	// Held while a change is decided and brought to disk.
	mu held.Lock
	// Immutable records; nil once the family has ended. Stored with mu held.
	record atomic.Pointer[pb.SessionFamily]
	// Set when the row is not what the record is; a sweep writes it.
	unsaved atomic.Bool
	// Guarded by mu. The row of the time before families, which goes with the
	// next change; nil for none.
	legacy []byte
	// Guarded by mu. What the row holds, or will when what is queued is
	// committed; kept where several nodes use the store.
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
		if len(e.Hash) != len(hash{}) {
			return nil, nil, fmt.Errorf("session family: %w", durable.ErrCorrupt)
		}
	}
	return &family{key: key, name: hex.EncodeToString(key)}, rec, nil
}

// parseLegacy makes a family of a session without one. Its admin's grant is
// not taken over: nobody knows which password it was given for.
func parseLegacy(key, value []byte) (*family, *pb.SessionFamily, error) {
	old := &pb.Session{}
	if err := old.Decode(value); err != nil || len(key) != len(hash{}) {
		return nil, nil, fmt.Errorf("session: %w", durable.ErrCorrupt)
	}
	id := &pb.SessionId{Hash: key}
	for _, g := range old.Attendees {
		id.ExpiresAt = max(id.ExpiresAt, g.ExpiresAt)
	}
	f := newFamily()
	f.legacy = key
	return f, &pb.SessionFamily{Ids: []*pb.SessionId{id}, Attendees: old.Attendees}, nil
}

// rows bring the store up to a record of the family; the caller holds mu.
func (f *family) rows(rec *pb.SessionFamily, now int64) []durable.Row {
	row := durable.Row{Table: familyTable, Key: f.key, Delete: true}
	if last := lasts(rec); last > now {
		value := pbwire.Encode(rec)
		row = durable.Row{Table: familyTable, Key: f.key, Value: value, TTL: time.Duration(last-now) * time.Millisecond}
	}
	rows := []durable.Row{row}
	if f.legacy != nil {
		rows = append(rows, durable.Row{Table: legacyTable, Key: f.legacy, Delete: true})
	}
	return rows
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

// pruned is a copy of a record without what has ended. Entries are shared: they
// are replaced, never changed.
func pruned(rec *pb.SessionFamily, now int64) *pb.SessionFamily {
	out := &pb.SessionFamily{Attendees: maps.Clone(rec.Attendees)}
	for _, e := range rec.Ids {
		if e.ExpiresAt > now {
			out.Ids = append(out.Ids, e)
		}
	}
	maps.DeleteFunc(out.Attendees, func(_ string, g *pb.AttendeeGrant) bool { return g.ExpiresAt <= now })
	if out.Attendees == nil {
		out.Attendees = map[string]*pb.AttendeeGrant{}
	}
	return out
}

// used is a record after an id was used for the first time: the one it
// replaces has its last minute.
func used(rec *pb.SessionFamily, id []byte, now int64) *pb.SessionFamily {
	out := pruned(rec, now)
	replaced := find(out, id).GetReplaces()
	for i, e := range out.Ids {
		switch {
		case bytes.Equal(e.Hash, id):
			out.Ids[i] = &pb.SessionId{Hash: e.Hash, ExpiresAt: e.ExpiresAt, Admin: e.Admin}
		case bytes.Equal(e.Hash, replaced):
			end := min(e.ExpiresAt, now+lastMinute.Milliseconds())
			out.Ids[i] = &pb.SessionId{Hash: e.Hash, ExpiresAt: end, Replaces: e.Replaces, Admin: e.Admin}
		}
	}
	return out
}

// crowded is the id that makes room for another, -1 when there is room: of
// those that nobody has used the oldest, else the oldest. from stays.
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
