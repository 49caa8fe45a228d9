package catalog

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"sync"
	"time"

	"atelier/actors/catalog/catalogpb"
	"atelier/actors/durable"
)

const sessionTable = "sessions"

// Sessions keeps what each session may do. A session is written once and only
// ever removed, so there is nothing an actor would have to decide. The store
// holds a hash of the session id, not the id. Safe for concurrent use;
// records are immutable.
type Sessions struct {
	journal durable.Journal
	now     func() time.Time

	mu   sync.RWMutex // guards live
	live map[sessionKey]*catalogpb.Session
}

type sessionKey [sha256.Size]byte

// LoadSessions reads the sessions that are still valid.
func LoadSessions(journal durable.Journal, now func() time.Time) (*Sessions, error) {
	s := &Sessions{journal: journal, now: now, live: map[sessionKey]*catalogpb.Session{}}
	var failed error
	err := journal.Scan(durable.Scan{Table: sessionTable}, func(key, value []byte) bool {
		rec := &catalogpb.Session{}
		if failed = rec.UnmarshalVT(value); failed != nil || len(key) != sha256.Size {
			failed = fmt.Errorf("session record: %w", durable.ErrCorrupt)
			return false
		}
		if len(key) == sha256.Size && expiry(rec) > now().UnixMilli() {
			s.live[sessionKey(key)] = rec
		}
		return true
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return s, nil
}

// expiry is when the last grant of a session ends, Unix milliseconds.
func expiry(rec *catalogpb.Session) int64 {
	last := rec.AdminExpiresAt
	for _, g := range rec.Attendees {
		last = max(last, g.ExpiresAt)
	}
	return last
}

// Get returns the valid grants of a session, or nil.
func (s *Sessions) Get(id string) *catalogpb.Session {
	s.mu.RLock()
	rec := s.live[sha256.Sum256([]byte(id))]
	s.mu.RUnlock()
	if rec == nil || expiry(rec) <= s.now().UnixMilli() {
		return nil
	}
	return rec
}

// Replace stores a session under a new id and ends the older one, whose
// grants that are still valid are carried over; old may be "". The session is
// on disk when Replace returns.
func (s *Sessions) Replace(old, id string, grant func(*catalogpb.Session)) (*catalogpb.Session, error) {
	now := s.now().UnixMilli()
	rec := &catalogpb.Session{CreatedAt: now, Attendees: map[string]*catalogpb.AttendeeGrant{}}
	if before := s.Get(old); before != nil {
		if before.AdminExpiresAt > now {
			rec.AdminLogin, rec.AdminName, rec.AdminExpiresAt = before.AdminLogin, before.AdminName, before.AdminExpiresAt
		}
		maps.Copy(rec.Attendees, before.Attendees)
		maps.DeleteFunc(rec.Attendees, func(_ string, g *catalogpb.AttendeeGrant) bool { return g.ExpiresAt <= now })
	}
	grant(rec)
	value, err := rec.MarshalVT()
	if err != nil {
		return nil, fmt.Errorf("encode session: %w", err)
	}
	key := sessionKey(sha256.Sum256([]byte(id)))
	rows := []durable.Row{{Table: sessionTable, Key: key[:], Value: value, TTL: time.Duration(expiry(rec)-now) * time.Millisecond}}
	gone := sessionKey(sha256.Sum256([]byte(old)))
	if old != "" {
		rows = append(rows, durable.Row{Table: sessionTable, Key: gone[:], Delete: true})
	}
	if err := durable.Commit(s.journal, rows); err != nil {
		return nil, fmt.Errorf("store session: %w", err)
	}
	s.mu.Lock()
	s.live[key] = rec
	if old != "" {
		delete(s.live, gone)
	}
	s.mu.Unlock()
	return rec, nil
}

// End removes a session; ending one that does not exist is fine.
func (s *Sessions) End(id string) error {
	key := sessionKey(sha256.Sum256([]byte(id)))
	if err := durable.Commit(s.journal, []durable.Row{{Table: sessionTable, Key: key[:], Delete: true}}); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	s.mu.Lock()
	delete(s.live, key)
	s.mu.Unlock()
	return nil
}

// Expire forgets the sessions that are over; the store forgets by itself.
func (s *Sessions) Expire() {
	now := s.now().UnixMilli()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.live, func(_ sessionKey, rec *catalogpb.Session) bool { return expiry(rec) <= now })
}

// Len counts the sessions kept.
func (s *Sessions) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.live)
}
