package login

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"atelier/actors/clock"
	"atelier/actors/durable"
	pb "atelier/actors/login/loginpb"
	"atelier/actors/naming"
)

const (
	// maxIDs bounds the valid ids of a family. A browser has one or two; lost responses cause more.
	maxIDs = 32
	// lastMinute is how long an id stays valid after its successor was used, for requests in flight
	// and tabs without the new id.
	lastMinute = time.Minute
	// underWay is how long the response to a registration can count as in flight while the new id
	// is unused.
	underWay = time.Minute
	// maxFamilies bounds the browsers in which one attendee is registered. If there are more, the
	// browser with the oldest grant loses it.
	maxFamilies = 50
)

// Sessions stores the grants of each session. The package comment states which changes are stored
// before they are visible. Changes to one family are sequential, so that neither of two concurrent
// changes is lost. Safe for concurrent use.
type Sessions struct {
	journal durable.Journal
	now     func() time.Time
	account []byte

	mu        sync.RWMutex // guards the following fields; never held while waiting
	families  map[Key]*family
	byName    map[string]*family              // including those being created, see expect
	attendees map[string][]*family            // by attendee id, ordered by grant
	named     map[string]map[*family]struct{} // families with an admin grant, see keysOf
	kept      int                             // number of families

	// feed is nil unless several nodes use the store.
	feed  durable.Feed
	clock clock.Clock
	// unread contains the families whose changed rows could not be read. The feed does not report
	// these rows again, so they must be retried.
	unread map[*family]struct{} // guarded by mu
}

// Key is the hash under which a session is stored, so that the store reveals no id.
type Key [sha256.Size]byte

// KeyOf returns the key of a session's id.
func KeyOf(id string) Key { return sha256.Sum256([]byte(id)) }

// Load reads the valid sessions. account is a keyed fingerprint of the current admin account. The
// owner's grants under an earlier account have ended.
func Load(journal durable.Journal, account []byte, now func() time.Time) (*Sessions, error) {
	s := empty(journal, account, now)
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return s, nil
}

func empty(journal durable.Journal, account []byte, now func() time.Time) *Sessions {
	return &Sessions{
		journal: journal, now: now, account: account,
		families: map[Key]*family{}, byName: map[string]*family{}, attendees: map[string][]*family{}, named: map[string]map[*family]struct{}{},
	}
}

func (s *Sessions) load() error {
	var failed error
	err := s.journal.Scan(durable.Scan{Table: familyTable}, func(key, value []byte) bool {
		var f *family
		var rec *record
		if f, rec, failed = parseFamily(key, value); failed != nil {
			return false
		}
		s.change(f, nil, s.pruned(rec))
		return true
	})
	return errors.Join(err, failed)
}

func (s *Sessions) pruned(rec *record) *record {
	for _, e := range rec.ids { // not shared yet
		if e.admin.GetPerson() == "" && !bytes.Equal(e.admin.GetAccount(), s.account) {
			e.admin = nil
		}
	}
	return rec.pruned(s.ms())
}

func (s *Sessions) ms() int64 { return s.now().UnixMilli() }

// Session contains the grants of an id, as of the time of each call. The zero value has no grants.
type Session struct {
	family *family
	id     Key
	admin  *pb.AdminGrant
}

// Family identifies the ids that were issued from one another. It panics for the zero Session.
func (s Session) Family() string { return s.family.name }

// Admin returns the admin's grant, or nil if there is none or it has ended.
func (s Session) Admin(now int64) *pb.AdminGrant {
	if s.admin == nil || s.admin.ExpiresAt <= now || s.Ended() || !carriesOn(s.family.record.Load(), s.admin) {
		return nil
	}
	return s.admin
}

// Grant returns the grant of an attendee in a codelab, or nil. The grant can have expired. It must
// not be modified.
func (s Session) Grant(codelab string) *AttendeeGrant {
	if s.family == nil {
		return nil
	}
	return s.family.record.Load().find(s.id).grant(codelab)
}

// Grants returns the grants of attendees, at most one per codelab. Some of them can have expired.
// The slice must not be modified.
func (s Session) Grants() []AttendeeGrant {
	if s.family == nil {
		return nil
	}
	if e := s.family.record.Load().find(s.id); e != nil {
		return e.attendees
	}
	return nil
}

// Until returns the latest expiry of an attendee's grants in a codelab, over all ids of the family,
// in Unix milliseconds. left means that somebody has left the codelab with this session id, or that
// the session has no family.
func (s Session) Until(now int64, codelab, attendee string) (last int64, left bool) {
	if s.family == nil {
		return 0, true
	}
	for _, e := range s.family.record.Load().all() {
		switch g := e.grant(codelab); {
		case g == nil || e.expires <= now:
		case g.AttendeeID == attendee:
			last = max(last, g.ExpiresAt)
		case g.AttendeeID == "":
			left = left || e.hash == s.id
		}
	}
	return last, left
}

// Ended reports whether the family was logged out or has expired.
func (s Session) Ended() bool { return s.family == nil || s.family.record.Load() == nil }

// Use returns the session of a presented id; ok is false if the id is not valid, or has no valid
// grant. After the first use of an id, the id that it replaces expires within a minute. Use fails
// with durable.ErrUnavailable if this node does not have the id and the store cannot be asked
// whether another node issued it.
func (s *Sessions) Use(id string) (_ Session, ok bool, err error) { return s.UseKey(KeyOf(id)) }

// UseKey does the same as Use, with the key of an id.
func (s *Sessions) UseKey(h Key) (_ Session, ok bool, err error) {
	now := s.ms()
	f, err := s.seek(h)
	if f == nil || err != nil {
		return Session{}, false, err
	}
	e := f.record.Load().find(h)
	if e == nil || e.expires <= now {
		return Session{}, false, nil
	}
	if e.replaces != nil {
		s.arrived(f, h)
	}
	got := Session{f, h, e.admin}
	if g := got.Admin(now); g != nil {
		if late(g, now) {
			s.saw(f, g)
		}
		return got, true, nil
	}
	for _, g := range e.attendees {
		if g.ExpiresAt > now {
			return got, true, nil
		}
	}
	return Session{}, false, nil
}

func (s *Sessions) lookup(h Key) *family {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.families[h]
}

// arrived records the first use of an id, without waiting for the store. If the record is lost, the
// next use writes it.
func (s *Sessions) arrived(f *family, id Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.record.Load()
	if e := before.find(id); e == nil || e.replaces == nil {
		return
	}
	rec := before.used(id, s.ms())
	s.change(f, before, rec)
	s.write(f, rec)
}

// write queues a family's record. The caller holds its mu.
func (s *Sessions) write(f *family, rec *record) {
	f.unsaved.Store(false)
	err := s.journal.Append(s.guarded(f, rec), func(err error) {
		if err != nil {
			f.unsaved.Store(true)
		}
	})
	if err != nil {
		f.unsaved.Store(true)
	}
}

// GrantAdmin issues an id with an admin's grant. The id replaces from, unless from is "". It
// returns the expiry of the id, in Unix milliseconds. The id is stored when GrantAdmin returns.
func (s *Sessions) GrantAdmin(from, id string, g *pb.AdminGrant) (expires int64, err error) {
	if g.Person == "" {
		g.Account = s.account
	}
	_, expires, err = s.issue(from, id, func(rec *record, e *entry, _ int64) {
		e.admin, e.expires = g, max(e.expires, g.ExpiresAt)
	})
	return expires, err
}

// GrantAttendee does the same as GrantAdmin, with the grant of an attendee who registered in a
// codelab under a name. Concurrent registrations from the same id under the same name get each
// other's grants. It therefore does not matter which response a browser uses last.
func (s *Sessions) GrantAttendee(from, id, name string, g AttendeeGrant) (expires int64, err error) {
	f, expires, err := s.issue(from, id, func(rec *record, e *entry, now int64) {
		e.addGrant(g)
		if e.replaces == nil {
			return
		}
		e.by = &pb.Registration{Codelab: g.Codelab, Name: nameHash(name), At: now}
		for i, other := range rec.ids {
			if by := other.by; by != nil && bytes.Equal(by.Name, e.by.Name) && other.replaces != nil && *other.replaces == *e.replaces {
				if theirs := other.grant(by.Codelab); theirs != nil && by.Codelab != g.Codelab {
					e.addGrant(*theirs)
				}
				other = other.copy()
				other.addGrant(g)
				rec.ids[i] = other
			}
		}
	})
	if err != nil {
		return 0, err
	}
	if first := s.firstOf(g.AttendeeID, f); first != nil {
		s.withdraw(first, g.AttendeeID, nothing)
	}
	return expires, nil
}

// nameHash returns the hash of a name for a Registration, which is kept for at most a minute.
func nameHash(name string) []byte {
	h := sha256.Sum256([]byte(naming.Key(name)))
	return h[:16]
}

// UnderWay returns the grant of a registration from an id, in a codelab under a name. It returns
// nil if there is none, or if the response is no longer in flight. A browser that registers again
// with the old id did not receive the response.
func (s *Sessions) UnderWay(from, codelab, name string) *AttendeeGrant {
	h := KeyOf(from)
	f := s.lookup(h)
	if f == nil {
		return nil
	}
	hashed, now := nameHash(name), s.ms()
	for _, e := range f.record.Load().all() {
		if by := e.by; by != nil && by.Codelab == codelab && bytes.Equal(by.Name, hashed) && e.replaces != nil && *e.replaces == h && now-by.At <= underWay.Milliseconds() {
			return e.grant(codelab)
		}
	}
	return nil
}

func (s *Sessions) issue(from, id string, grant func(rec *record, e *entry, now int64)) (*family, int64, error) {
	for {
		f, expires, err := s.issueOnce(from, id, grant)
		if !errors.Is(err, durable.ErrConflict) {
			return f, expires, err
		}
		// Another node has changed the family, and this one has read the change.
	}
}

func (s *Sessions) issueOnce(from, id string, grant func(rec *record, e *entry, now int64)) (*family, int64, error) {
	f, parent, err := s.hold(from)
	if err != nil {
		return nil, 0, fmt.Errorf("issue a session id: %w", err)
	}
	defer f.mu.Unlock()
	now, before := s.ms(), f.record.Load()
	rec := before.pruned(now)
	e := &entry{hash: KeyOf(id)}
	if parent != nil {
		e.replaces = &parent.hash
		if now := rec.find(parent.hash); now != nil {
			for _, g := range now.attendees {
				e.addGrant(g)
			}
		}
		if a := parent.admin; a.GetExpiresAt() > now {
			e.admin, e.expires = a, max(e.expires, a.ExpiresAt)
		}
	}
	grant(rec, e, now)
	if i := rec.crowded(parent); i >= 0 {
		rec.ids = slices.Delete(rec.ids, i, i+1)
	}
	rec.ids = append(rec.ids, e)
	if err := s.commit(f, rec); err != nil {
		if len(f.record.Load().all()) == 0 {
			s.forget(f)
		}
		return nil, 0, fmt.Errorf("store session: %w", err)
	}
	s.change(f, before, rec)
	return f, e.expires, nil
}

// hold locks the family of an id and returns the id's entry, or a new family if the id is no longer
// valid. If the id's validity is unknown, hold fails, because a new family would lose the earlier
// grants.
func (s *Sessions) hold(id string) (*family, *entry, error) {
	if id != "" {
		h := KeyOf(id)
		f, err := s.seek(h)
		if err != nil {
			return nil, nil, err
		}
		if f != nil {
			f.mu.Lock()
			if e := f.record.Load().find(h); e != nil && e.expires > s.ms() {
				return f, e, nil
			}
			f.mu.Unlock()
		}
	}
	f := newFamily()
	f.mu.Lock()
	s.expect(f)
	return f, nil, nil
}

// Forget removes a deleted attendee from all grants, so that no data about them remains. Each grant
// is replaced by a grant to nobody, so the browser is still recognized, but has no rights. A grant
// that cannot be rewritten expires as usual.
func (s *Sessions) Forget(attendee string) {
	s.mu.RLock()
	all := slices.Clone(s.attendees[attendee])
	s.mu.RUnlock()
	for _, f := range all {
		s.withdraw(f, attendee, nobody)
	}
}

// Leave ends an attendee's grant in a codelab for all ids of the family; other grants remain. It
// returns the attendee's id, or "" if the session id has no such grant.
func (s *Sessions) Leave(id, codelab string) (attendee string, err error) {
	h := KeyOf(id)
	f, err := s.seek(h)
	if f == nil || err != nil {
		return "", err
	}
	g := f.record.Load().find(h).grant(codelab)
	if g == nil || g.AttendeeID == "" {
		return "", nil
	}
	attendee = g.AttendeeID
	f.mu.Lock()
	defer f.mu.Unlock()
	for before := f.record.Load(); before != nil; before = f.record.Load() {
		rec := before.without(s.ms(), attendee, nobody)
		err := s.commit(f, rec)
		if errors.Is(err, durable.ErrConflict) {
			continue // another node has changed the family, and this node has read the change
		}
		if err != nil {
			return "", fmt.Errorf("end an attendee's grant: %w", err)
		}
		s.change(f, before, rec)
		break
	}
	return attendee, nil
}

// withdraw changes an attendee's grants in a family with take, which is nobody or nothing.
func (s *Sessions) withdraw(f *family, attendee string, take func([]AttendeeGrant, int) []AttendeeGrant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for before := f.record.Load(); before != nil; before = f.record.Load() {
		rec := before.without(s.ms(), attendee, take)
		if s.feed == nil {
			s.change(f, before, rec)
			s.write(f, rec)
			return
		}
		err := s.commit(f, rec)
		if err == nil {
			s.change(f, before, rec)
		}
		if !errors.Is(err, durable.ErrConflict) {
			return
		}
		// Another node has changed the family, and this node has read the change.
	}
}

// End ends an id with its whole family. Ending an invalid id is not an error. It fails with
// durable.ErrUnavailable if this node cannot determine whether the id is valid, because another
// node would continue to accept it.
func (s *Sessions) End(id string) error {
	f, err := s.seek(KeyOf(id))
	if f == nil || err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for rec := f.record.Load(); rec != nil; rec = f.record.Load() {
		err := s.commit(f, nil)
		if errors.Is(err, durable.ErrConflict) {
			continue // another node has changed the family, and this node has read the change
		}
		if err != nil {
			return fmt.Errorf("end session: %w", err)
		}
		s.change(f, rec, nil)
		break
	}
	return nil
}

// Expire removes expired sessions, and writes pending changes. The store expires its rows itself.
func (s *Sessions) Expire() {
	s.mu.RLock()
	all := make(map[*family]struct{}, s.kept)
	for _, f := range s.families {
		all[f] = struct{}{}
	}
	s.mu.RUnlock()
	for f := range all {
		if f.mu.TryLock() { // a family that is being changed is checked next time
			s.prune(f)
			f.mu.Unlock()
		}
	}
}

// prune does the same as Expire for one family. The caller holds the family's mu.
func (s *Sessions) prune(f *family) {
	before := f.record.Load()
	if before == nil {
		return
	}
	rec := before.pruned(s.ms())
	if f.unsaved.Load() {
		s.write(f, rec)
	}
	switch {
	case len(rec.ids) == 0:
		s.change(f, before, nil)
	case !slices.Equal(rec.ids, before.ids):
		s.change(f, before, rec)
	}
}
