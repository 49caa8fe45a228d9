package login

import (
	"slices"

	pb "atelier/actors/login/loginpb"
	"atelier/actors/naming"
)

// change publishes a family's new record, or nil if the family has ended. The caller holds the
// family's mu, or has exclusive access.
func (s *Sessions) change(f *family, before, after *record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.record.Store(after)
	if len(before.all()) == 0 && len(after.all()) > 0 {
		s.kept++
		s.byName[f.name] = f
	} else if len(before.all()) > 0 && len(after.all()) == 0 {
		s.kept--
		delete(s.byName, f.name)
	}
	for _, e := range before.all() {
		delete(s.families, e.hash)
		for _, key := range keysOf(e) {
			if delete(s.named[key], f); len(s.named[key]) == 0 {
				delete(s.named, key)
			}
		}
	}
	for _, e := range after.all() {
		s.families[e.hash] = f
		for _, key := range keysOf(e) {
			if s.named[key] == nil {
				s.named[key] = map[*family]struct{}{}
			}
			s.named[key][f] = struct{}{}
		}
	}
	had, has := before.attendees(), after.attendees()
	for _, id := range had {
		if slices.Contains(has, id) {
			continue
		}
		s.attendees[id] = slices.DeleteFunc(s.attendees[id], func(x *family) bool { return x == f })
		if len(s.attendees[id]) == 0 {
			delete(s.attendees, id)
		}
	}
	for _, id := range has {
		if !slices.Contains(had, id) {
			s.attendees[id] = append(s.attendees[id], f)
		}
	}
}

// keysOf returns the keys of a session id with an admin grant in named. These are the person's key
// and, if the grant has a name, the skeleton of the name.
func keysOf(e *entry) []string {
	if e.admin == nil {
		return nil
	}
	keys := []string{personKey(e.admin.Person)}
	if name := nameOf(e); name != "" {
		keys = append(keys, name)
	}
	return keys
}

// personKey returns the key of a person, "" for the owner. It differs from every name.
func personKey(person string) string { return "\x00" + person }

func nameOf(e *entry) string {
	if e.admin.GetName() == "" {
		return ""
	}
	return naming.Skeleton(e.admin.Name)
}

// NamesAdmin reports whether a logged-in owner, facilitator or assistant has a display name that
// looks like name. Only grants for which counts reports true are considered.
func (s *Sessions) NamesAdmin(name string, counts func(*pb.AdminGrant) bool) bool {
	key, now := naming.Skeleton(name), s.ms()
	s.mu.RLock()
	defer s.mu.RUnlock()
	for f := range s.named[key] {
		for _, e := range f.record.Load().all() {
			if e.expires > now && e.admin.GetExpiresAt() > now && nameOf(e) == key && counts(e.admin) {
				return true
			}
		}
	}
	return false
}

// firstOf returns the family with an attendee's oldest grant if the attendee is in more than
// maxFamilies. It never returns the family newest, which has just received a grant.
func (s *Sessions) firstOf(attendee string, newest *family) *family {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := s.attendees[attendee]
	switch {
	case len(all) <= maxFamilies:
		return nil
	case all[0] == newest:
		return all[1]
	}
	return all[0]
}

// Len returns the number of families.
func (s *Sessions) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.kept
}
