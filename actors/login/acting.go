package login

import "slices"

// Acting returns the session of a person in a codelab, in the browser whose session family has this
// name. Several people can use the same browser. If leading is true, person is the login of the
// owner, a facilitator or an assistant; otherwise it is an attendee's id. If there are several
// sessions, Acting returns the one that expires last. Without a session, ok is false. Acting returns
// the same errors as Use.
func (s *Sessions) Acting(name, codelab string, leading bool, person string) (best Session, ok bool, err error) {
	if best, ok = s.acting(name, codelab, leading, person); !ok && s.feed != nil {
		// Another node may just have issued the session.
		if err := s.sync(); err != nil {
			return Session{}, false, err
		}
		best, ok = s.acting(name, codelab, leading, person)
	}
	return best, ok, nil
}

func (s *Sessions) acting(name, codelab string, leading bool, person string) (best Session, ok bool) {
	f := s.familyOf(name)
	if f == nil || person == "" {
		return Session{}, false
	}
	now, last := s.ms(), int64(0)
	for _, e := range f.record.Load().all() {
		got, until := Session{f, e.hash, e.admin}, int64(0)
		if a, g := got.Admin(now), e.grant(codelab); leading && a.GetLogin() == person {
			until = a.ExpiresAt
		} else if !leading && g != nil && g.AttendeeID == person {
			until = g.ExpiresAt
		}
		if until = min(until, e.expires); until > now && until > last {
			best, last = got, until
		}
	}
	return best, last > 0
}

// Siblings returns the ids of a codelab's attendees with grants in the session's family.
func (s Session) Siblings(codelab string) (out []string) {
	if s.family == nil {
		return nil
	}
	for _, e := range s.family.record.Load().all() {
		if g := e.grant(codelab); g != nil && g.AttendeeID != "" && !slices.Contains(out, g.AttendeeID) {
			out = append(out, g.AttendeeID)
		}
	}
	return out
}

func (s *Sessions) familyOf(name string) *family {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byName[name]
}
