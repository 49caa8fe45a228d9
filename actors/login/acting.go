package login

// Acting returns the session by which a browser, whose family has that name, acts in a
// codelab now: as somebody who leads, or as an attendee. Of several it is the one that
// lasts longest; ok is false when there is none any more. It fails like Use.
func (s *Sessions) Acting(name, codelab string, leading bool) (best Session, ok bool, err error) {
	f := s.familyOf(name)
	if f == nil && s.feed != nil {
		if err := s.sync(); err != nil {
			return Session{}, false, err
		}
		f = s.familyOf(name)
	}
	if f == nil {
		return Session{}, false, nil
	}
	now, last := s.ms(), int64(0)
	for _, e := range f.record.Load().GetIds() {
		got, until := Session{f, hash(e.Hash), e.Admin}, int64(0)
		if g := e.Attendees[codelab]; leading {
			until = got.Admin(now).GetExpiresAt()
		} else if g.GetAttendeeId() != "" {
			until = g.ExpiresAt
		}
		if until = min(until, e.ExpiresAt); until > now && until > last {
			best, last = got, until
		}
	}
	return best, last > 0, nil
}

func (s *Sessions) familyOf(name string) *family {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byName[name]
}
