package login

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"atelier/actors/durable"
	pb "atelier/actors/login/loginpb"
)

// Logins returns a person's logins that are still valid, latest first, without duplicates.
func (s *Sessions) Logins(person string) (out []*pb.AdminGrant) {
	now := s.ms()
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := map[string]bool{}
	for f := range s.named[personKey(person)] {
		for _, e := range f.record.Load().all() {
			if g := e.admin; g.GetPerson() == person && g.GetExpiresAt() > now && e.expires > now && !seen[g.Login] {
				seen[g.Login] = true
				out = append(out, g)
			}
		}
	}
	slices.SortFunc(out, func(a, b *pb.AdminGrant) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.Login, b.Login))
	})
	return out
}

// SeenEvery is the precision with which the last use of a login is recorded.
const SeenEvery = 15 * time.Minute

// SeenAt returns the time of a login's last use, in Unix milliseconds.
func SeenAt(g *pb.AdminGrant) int64 { return max(g.CreatedAt, g.SeenAt) }

func late(g *pb.AdminGrant, now int64) bool { return now-SeenAt(g) >= SeenEvery.Milliseconds() }

// saw records the use of a login, without waiting for the store. If the record is lost, a later use
// writes it.
func (s *Sessions) saw(f *family, login *pb.AdminGrant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, now := f.record.Load(), s.ms()
	rec, noted := before.pruned(now), false
	for i, e := range rec.ids {
		if sameLogin(e.admin, login) && late(e.admin, now) {
			e = e.copy()
			e.admin = e.admin.Clone()
			e.admin.SeenAt = now
			rec.ids[i], noted = e, true
		}
	}
	if noted {
		s.change(f, before, rec)
		s.write(f, rec)
	}
}

// EndLogin ends one login of a person. The browser's other grants remain. It reports whether the
// login existed.
func (s *Sessions) EndLogin(person, login string) (ended bool, err error) {
	want := &pb.AdminGrant{Person: person, Login: login}
	var theirs []*family
	s.mu.RLock()
	for f := range s.named[personKey(person)] {
		if hasLogin(f.record.Load(), want) {
			theirs = append(theirs, f)
		}
	}
	s.mu.RUnlock()
	for _, f := range theirs {
		if err := s.endLogin(f, want); err != nil {
			return false, fmt.Errorf("end a login: %w", err)
		}
	}
	return len(theirs) > 0, nil
}

func (s *Sessions) endLogin(f *family, login *pb.AdminGrant) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for before := f.record.Load(); hasLogin(before, login); before = f.record.Load() {
		rec := before.pruned(s.ms())
		for i, e := range rec.ids {
			if sameLogin(e.admin, login) {
				e = e.copy()
				e.admin = nil
				rec.ids[i] = e
			}
		}
		err := s.commit(f, rec)
		if errors.Is(err, durable.ErrConflict) {
			continue // another node has changed the family, and this node has read the change
		}
		if err != nil {
			return err
		}
		s.change(f, before, rec)
		break
	}
	return nil
}

func hasLogin(rec *record, login *pb.AdminGrant) bool {
	return slices.ContainsFunc(rec.all(), func(e *entry) bool { return sameLogin(e.admin, login) })
}

// carriesOn reports whether a login has not ended. The owner's login also counts as not ended if
// the owner has signed in again in the same browser.
func carriesOn(rec *record, login *pb.AdminGrant) bool {
	if login.Person != "" {
		return hasLogin(rec, login)
	}
	return slices.ContainsFunc(rec.all(), func(e *entry) bool { return e.admin != nil && e.admin.Person == "" })
}

func sameLogin(a, b *pb.AdminGrant) bool {
	return a != nil && a.Person == b.Person && a.Login == b.Login
}
