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
	// maxIDs bounds the valid ids of a family. A browser has one or two; lost answers
	// create more.
	maxIDs = 32
	// lastMinute is how long an id stays good after its successor was used, for requests in
	// flight and tabs without the new id.
	lastMinute = time.Minute
	// underWay is how long a registration counts as being answered, while its new id is
	// unused.
	underWay = time.Minute
	// maxFamilies bounds the browsers in which one attendee is registered; the
	// first to register loses the grant.
	maxFamilies = 50
)

// Sessions keeps the grants of each session. A change of a family is on disk before anybody
// can read it. Changes of one family are made one after the other, so that of two
// concurrent ones neither is lost. Safe for concurrent use.
type Sessions struct {
	journal durable.Journal
	now     func() time.Time
	account []byte

	mu        sync.RWMutex // guards what follows; never held while waiting
	families  map[Key]*family
	byName    map[string]*family
	attendees map[string][]*family            // by attendee id, in the order of their grants
	named     map[string]map[*family]struct{} // families of facilitators, see keysOf
	kept      int                             // families

	// Set if several nodes use the store; else nil.
	feed  durable.Feed
	clock clock.Clock
	byKey map[string]*family // guarded by mu
	// unread are the families whose changed rows could not be read; the feed does not
	// report them again.
	unread map[*family]struct{} // guarded by mu
}

// Key is the hash under which a session is kept, so that the disk reveals no id.
type Key [sha256.Size]byte

// KeyOf returns the key of a session's id.
func KeyOf(id string) Key { return sha256.Sum256([]byte(id)) }

// Load reads the sessions that are still valid. account is a keyed fingerprint of the
// present admin account. Grants of logins to another account have ended.
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
		var rec *pb.SessionFamily
		if f, rec, failed = parseFamily(bytes.Clone(key), value); failed != nil {
			return false
		}
		s.change(f, nil, s.pruned(rec))
		return true
	})
	return errors.Join(err, failed)
}

func (s *Sessions) pruned(rec *pb.SessionFamily) *pb.SessionFamily {
	for _, e := range rec.Ids { // which is not shared yet
		if e.Admin.GetPerson() == "" && !bytes.Equal(e.Admin.GetAccount(), s.account) {
			e.Admin = nil
		}
	}
	return pruned(rec, s.ms())
}

func (s *Sessions) ms() int64 { return s.now().UnixMilli() }

// Session has the grants of one id, as of the time of each call. The zero value has none.
type Session struct {
	family *family
	id     Key
	admin  *pb.AdminGrant
}

// Family names the ids that were issued from one another.
func (s Session) Family() string { return s.family.name }

// Admin returns the admin's grant, or nil when there is none or it has ended.
func (s Session) Admin(now int64) *pb.AdminGrant {
	if s.admin == nil || s.admin.ExpiresAt <= now || s.Ended() || !carriesOn(s.family.record.Load(), s.admin) {
		return nil
	}
	return s.admin
}

// Attendees are the attendees' grants by codelab; some can have expired. The map must not
// be changed.
func (s Session) Attendees() map[string]*pb.AttendeeGrant {
	if s.family == nil {
		return nil
	}
	return find(s.family.record.Load(), s.id[:]).GetAttendees()
}

// Until returns when the last grant of an attendee in a codelab ends, of all ids of the
// family, in Unix milliseconds. left means that they have left the codelab.
func (s Session) Until(now int64, codelab, attendee string) (last int64, left bool) {
	if s.family == nil {
		return 0, true
	}
	for _, e := range s.family.record.Load().GetIds() {
		switch g := e.Attendees[codelab]; {
		case g == nil || e.ExpiresAt <= now:
		case g.AttendeeId == attendee:
			last = max(last, g.ExpiresAt)
		case g.AttendeeId == "":
			left = left || Key(e.Hash) == s.id
		}
	}
	return last, left
}

// Ended reports whether the family was logged out or has expired.
func (s Session) Ended() bool { return s.family == nil || s.family.record.Load() == nil }

// Use returns the session of a presented id; ok is false if the id is not valid. The id
// that it replaces then expires within a minute. Use fails with durable.ErrUnavailable when
// this node does not have the id and cannot ask the store whether another node issued it.
func (s *Sessions) Use(id string) (_ Session, ok bool, err error) { return s.UseKey(KeyOf(id)) }

// UseKey is Use with the key of an id.
func (s *Sessions) UseKey(h Key) (_ Session, ok bool, err error) {
	now := s.ms()
	f, err := s.seek(h)
	if f == nil || err != nil {
		return Session{}, false, err
	}
	rec := f.record.Load()
	e := find(rec, h[:])
	if e == nil || e.ExpiresAt <= now {
		return Session{}, false, nil
	}
	if len(e.Replaces) > 0 {
		s.arrived(f, h[:])
	}
	got := Session{f, h, e.Admin}
	if g := got.Admin(now); g != nil {
		if late(g, now) {
			s.saw(f, g)
		}
		return got, true, nil
	}
	for _, g := range e.Attendees {
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

// arrived records the first use of an id, without waiting for the disk. If that is lost,
// the next use records it.
func (s *Sessions) arrived(f *family, id []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.record.Load()
	if e := find(before, id); e == nil || len(e.Replaces) == 0 {
		return
	}
	rec := used(before, id, s.ms())
	s.change(f, before, rec)
	s.write(f, rec)
}

// write queues a family's record; the caller holds its mu.
func (s *Sessions) write(f *family, rec *pb.SessionFamily) {
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

// GrantAdmin issues an id from another, or from none, and gives it an admin's grant. It
// returns the time when the id ends, in Unix milliseconds. The id is on disk when it
// returns.
func (s *Sessions) GrantAdmin(from, id string, g *pb.AdminGrant) (expires int64, err error) {
	if g.Person == "" {
		g.Account = s.account
	}
	_, expires, err = s.issue(from, id, func(rec *pb.SessionFamily, e *pb.SessionId, _ int64) {
		e.Admin, e.ExpiresAt = g, max(e.ExpiresAt, g.ExpiresAt)
	})
	return expires, err
}

// GrantAttendee is GrantAdmin for the grant of an attendee who registered in a codelab
// under a name. Concurrent registrations from one id under one name get each other's
// grants, so it does not matter which answer a browser uses last.
func (s *Sessions) GrantAttendee(from, id, codelab, name string, g *pb.AttendeeGrant) (expires int64, err error) {
	f, expires, err := s.issue(from, id, func(rec *pb.SessionFamily, e *pb.SessionId, now int64) {
		give(e, codelab, g)
		if len(e.Replaces) == 0 {
			return
		}
		e.By = &pb.Registration{Codelab: codelab, Name: nameHash(name), At: now}
		for i, other := range rec.Ids {
			if by := other.By; by != nil && bytes.Equal(by.Name, e.By.Name) && bytes.Equal(other.Replaces, e.Replaces) {
				if theirs := other.Attendees[by.Codelab]; theirs != nil && by.Codelab != codelab {
					give(e, by.Codelab, theirs)
				}
				other = changed(other)
				give(other, codelab, g)
				rec.Ids[i] = other
			}
		}
	})
	if err != nil {
		return 0, err
	}
	if first := s.firstOf(g.AttendeeId, f); first != nil {
		s.withdraw(first, g.AttendeeId, func(all map[string]*pb.AttendeeGrant, lab string) { delete(all, lab) })
	}
	return expires, nil
}

// nameHash distinguishes names for a minute.
func nameHash(name string) []byte {
	h := sha256.Sum256([]byte(naming.Key(name)))
	return h[:16]
}

// UnderWay returns the grant of a registration in a codelab under a name, made from an id,
// while its answer may still be in flight; nil for none. A browser that asks again with the
// old id did not receive the answer.
func (s *Sessions) UnderWay(from, codelab, name string) *pb.AttendeeGrant {
	h := KeyOf(from)
	f := s.lookup(h)
	if f == nil {
		return nil
	}
	hashed, now := nameHash(name), s.ms()
	for _, e := range f.record.Load().GetIds() {
		if by := e.By; by != nil && by.Codelab == codelab && bytes.Equal(by.Name, hashed) && bytes.Equal(e.Replaces, h[:]) && now-by.At <= underWay.Milliseconds() {
			return e.Attendees[codelab]
		}
	}
	return nil
}

func (s *Sessions) issue(from, id string, grant func(rec *pb.SessionFamily, e *pb.SessionId, now int64)) (*family, int64, error) {
	for {
		f, expires, err := s.issueOnce(from, id, grant)
		if !errors.Is(err, durable.ErrConflict) {
			return f, expires, err
		}
		// Another node has changed the family, and this one has read the change.
	}
}

func (s *Sessions) issueOnce(from, id string, grant func(rec *pb.SessionFamily, e *pb.SessionId, now int64)) (*family, int64, error) {
	f, parent, err := s.hold(from)
	if err != nil {
		return nil, 0, fmt.Errorf("issue a session id: %w", err)
	}
	defer f.mu.Unlock()
	now, before := s.ms(), f.record.Load()
	rec := pruned(before, now)
	h := KeyOf(id)
	e := changed(&pb.SessionId{Hash: h[:], Replaces: parent.GetHash()})
	for lab, g := range find(rec, parent.GetHash()).GetAttendees() {
		give(e, lab, g)
	}
	if a := parent.GetAdmin(); a.GetExpiresAt() > now {
		e.Admin, e.ExpiresAt = a, max(e.ExpiresAt, a.ExpiresAt)
	}
	grant(rec, e, now)
	if i := crowded(rec.Ids, parent.GetHash()); i >= 0 {
		rec.Ids = slices.Delete(rec.Ids, i, i+1)
	}
	rec.Ids = append(rec.Ids, e)
	if err := s.commit(f, rec); err != nil {
		return nil, 0, fmt.Errorf("store session: %w", err)
	}
	s.change(f, before, rec)
	return f, e.ExpiresAt, nil
}

// hold locks the family of an id and returns the id's entry; a new family if the id is no
// longer valid. If its validity is unknown, hold fails, because a new family would lose the
// earlier grants.
func (s *Sessions) hold(id string) (*family, *pb.SessionId, error) {
	if id != "" {
		h := KeyOf(id)
		f, err := s.seek(h)
		if err != nil {
			return nil, nil, err
		}
		if f != nil {
			f.mu.Lock()
			if e := find(f.record.Load(), h[:]); e != nil && e.ExpiresAt > s.ms() {
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

// Forget removes a deleted attendee from all grants, so that no data of them remains. A
// grant to nobody stays, so that the browser is still recognised, without any rights.
// Grants that cannot be written now expire.
func (s *Sessions) Forget(attendee string) {
	s.mu.RLock()
	all := slices.Clone(s.attendees[attendee])
	s.mu.RUnlock()
	for _, f := range all {
		s.withdraw(f, attendee, nobody)
	}
}

// Leave ends the grant of an attendee in a codelab for all ids that were issued
// from one another; other grants stay. It names the attendee; "" when the id has no such
// grant.
func (s *Sessions) Leave(id, codelab string) (attendee string, err error) {
	h := KeyOf(id)
	f, err := s.seek(h)
	if f == nil || err != nil {
		return "", err
	}
	attendee = find(f.record.Load(), h[:]).GetAttendees()[codelab].GetAttendeeId()
	if attendee == "" {
		return "", nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for before := f.record.Load(); before != nil; before = f.record.Load() {
		rec := without(before, s.ms(), attendee, nobody)
		err := s.commit(f, rec)
		if errors.Is(err, durable.ErrConflict) {
			continue // another node has changed it, and this one has read the change
		}
		if err != nil {
			return "", fmt.Errorf("end an attendee's grant: %w", err)
		}
		s.change(f, before, rec)
		break
	}
	return attendee, nil
}

// nobody replaces a grant by a grant to nobody. So the browser is still recognised, without
// any rights, and everything that depends on the grant notices that it has ended.
func nobody(all map[string]*pb.AttendeeGrant, codelab string) {
	all[codelab] = &pb.AttendeeGrant{ExpiresAt: all[codelab].ExpiresAt}
}

// without is a record in which the grants of an attendee are changed.
func without(rec *pb.SessionFamily, now int64, attendee string, take func(all map[string]*pb.AttendeeGrant, codelab string)) *pb.SessionFamily {
	out := pruned(rec, now)
	for i, e := range out.Ids {
		var theirs []string
		for lab, g := range e.Attendees {
			if g.AttendeeId == attendee {
				theirs = append(theirs, lab)
			}
		}
		if len(theirs) == 0 {
			continue
		}
		e = changed(e)
		for _, lab := range theirs {
			take(e.Attendees, lab)
		}
		e.By = nil
		out.Ids[i] = e
	}
	return out
}

// withdraw changes an attendee's grants in a family.
func (s *Sessions) withdraw(f *family, attendee string, take func(all map[string]*pb.AttendeeGrant, codelab string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for before := f.record.Load(); before != nil; before = f.record.Load() {
		rec := without(before, s.ms(), attendee, take)
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
		// Another node has changed it, and this one has read the change.
	}
}

// End ends an id with its whole family; ending an invalid one is no error. It fails with
// durable.ErrUnavailable if this node cannot determine whether the id is valid, because
// another node would go on accepting it.
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
			continue // another node has changed it, and this one has read the change
		}
		if err != nil {
			return fmt.Errorf("end session: %w", err)
		}
		s.change(f, rec, nil)
		s.forget(f)
		break
	}
	return nil
}

// Expire forgets expired sessions, and writes pending ones. The store expires its rows
// itself.
func (s *Sessions) Expire() {
	s.mu.RLock()
	all := make(map[*family]struct{}, s.kept)
	for _, f := range s.families {
		all[f] = struct{}{}
	}
	s.mu.RUnlock()
	for f := range all {
		if f.mu.TryLock() { // one that is being changed is checked the next time
			s.prune(f)
			f.mu.Unlock()
		}
	}
}

// prune is Expire for one family; the caller holds its mu.
func (s *Sessions) prune(f *family) {
	before := f.record.Load()
	if before == nil {
		return
	}
	rec := pruned(before, s.ms())
	if f.unsaved.Load() {
		s.write(f, rec)
	}
	switch {
	case len(rec.Ids) == 0:
		s.change(f, before, nil)
		s.forget(f)
	case !slices.Equal(rec.Ids, before.Ids):
		s.change(f, before, rec)
	}
}
