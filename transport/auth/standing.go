package auth

import (
	"slices"
	"sync"

	"atelier/actors/login"
	"atelier/actors/login/loginpb"
)

// Standing is the grant of a live connection or an AI answer, which outlives its request.
type Standing struct {
	key     string // of the caller
	token   string // the id of the API token, or ""
	session login.Session
	codelab string
	grant   *login.AttendeeGrant // nil for an admin
	alive   func() bool          // nil if the codelab and its attendee always exist
}

// Standing returns the caller's grant, as an admin or as an attendee in a codelab. alive reports
// whether the codelab and its attendee still exist. Nil means that they always exist.
func (i *Identity) Standing(codelab string, admin bool, alive func() bool) Standing {
	s := Standing{key: i.Key(), session: i.session, codelab: codelab, alive: alive}
	if i.Token != nil {
		s.token = i.Token.Id
	}
	if !admin {
		s.grant = i.Grant(codelab)
	}
	return s
}

// Key identifies the session or API token of the grant.
func (s *Standing) Key() string { return s.key }

// Reasons for the end of a grant.
const (
	LoggedOut = "logged out"
	Over      = "access has ended"
	// Unknown: the validity of the grant could not be determined. The grant can still be valid, so
	// the client is asked to reconnect.
	Unknown = "this server cannot find out who is calling; connect again"
)

// Holder depends on a grant. End is called when the grant has ended, from any goroutine and
// perhaps more than once; it must not block.
type Holder interface {
	Standing() *Standing
	End(reason string)
}

// holders contains the holders that depend on grants, by session or API token. The zero value is
// empty.
type holders struct {
	mu    sync.Mutex
	byKey map[string][]Holder // guarded by mu
}

// Hold registers a holder, so that it ends with its grant. The grant may have ended after the
// caller was checked, so Hold checks it again. Hold returns "" if the grant is still valid.
// Otherwise it returns the reason, Over or Unknown, and the caller must not begin the connection or
// answer. If the grant ends later, End is called.
func (a *Authenticator) Hold(h Holder) (ended string) {
	a.holders.add(h)
	stands, err := a.stands(h.Standing())
	switch {
	case err != nil:
		ended = Unknown
	case !stands:
		ended = Over
	default:
		return ""
	}
	a.Release(h)
	return ended
}

// Release unregisters a holder that has ended.
func (a *Authenticator) Release(h Holder) { a.holders.remove(h) }

// stands reports whether a grant is still valid. It returns an error while this is unknown.
func (a *Authenticator) stands(s *Standing) (bool, error) {
	now := a.Now().UnixMilli()
	switch {
	case s.alive != nil && !s.alive():
		return false, nil
	case s.token != "":
		return a.hasToken(s.token)
	case s.session.Ended():
		return false, nil
	case s.grant == nil:
		return a.leads(s.session.Admin(now))
	}
	// The session may have received a later grant in the meantime, or a grant for another attendee.
	// Neither ends the first grant.
	last, left := s.session.Until(now, s.codelab, s.grant.AttendeeID)
	return !left && max(last, s.grant.ExpiresAt) > now, nil
}

// leads reports whether a login is still valid; nil is not. It returns an error while this is
// unknown.
func (a *Authenticator) leads(g *loginpb.AdminGrant) (bool, error) {
	if g.GetPerson() == "" {
		return g != nil, nil
	}
	v, err := a.People()
	return err == nil && v.Stands(g.Person, g.Generation, a.Now()), err
}

func (a *Authenticator) hasToken(id string) (bool, error) {
	tokens, err := a.Tokens()
	if err != nil {
		return false, err
	}
	return tokens.Has(id, a.Now()), nil
}

// Knows reports whether the caller's session or API token is still valid. If leading is true, the
// login of a facilitator or assistant must be valid, too. Knows returns an error while the validity
// is unknown.
func (a *Authenticator) Knows(i *Identity, leading bool) (bool, error) {
	if i.Token != nil {
		return a.hasToken(i.Token.Id)
	}
	if leading && i.person != nil {
		return a.leads(i.session.Admin(a.Now().UnixMilli()))
	}
	return !i.session.Ended(), nil
}

// End ends the caller's session with all ids of its family and everything that depends on it.
func (a *Authenticator) End(i *Identity) error {
	if err := a.Sessions.End(i.SessionID); err != nil {
		return err
	}
	a.endAll(i.Key(), LoggedOut)
	return nil
}

// Leave ends the grant of an attendee in a codelab and everything that depends on it. The rest of
// the caller's session remains.
func (a *Authenticator) Leave(i *Identity, codelab string) error {
	attendee, err := a.Sessions.Leave(i.SessionID, codelab)
	if err != nil || attendee == "" {
		return err
	}
	for _, h := range a.holders.of(i.Key()) {
		if s := h.Standing(); s.codelab == codelab && s.grant != nil && s.grant.AttendeeID == attendee {
			h.End(LoggedOut)
		}
	}
	return nil
}

// EndLogin ends one of the caller's logins and everything that depends on it. It reports whether
// the login existed.
func (a *Authenticator) EndLogin(i *Identity, login string) (bool, error) {
	ended, err := a.Sessions.EndLogin(i.PersonID(), login)
	if ended {
		a.Sweep()
	}
	return ended, err
}

// Revoked ends everything that depends on a revoked API token.
func (a *Authenticator) Revoked(token string) { a.endAll(tokenKey(token), LoggedOut) }

func tokenKey(id string) string { return "token:" + id }

func (a *Authenticator) endAll(key, reason string) {
	for _, h := range a.holders.of(key) {
		h.End(reason)
	}
}

// Sweep ends everything whose grant has expired or ended otherwise.
func (a *Authenticator) Sweep() {
	for _, h := range a.holders.all() {
		a.Check(h)
	}
}

// Check ends a holder whose grant is no longer valid. While the validity is unknown, Check ends
// nothing: the next Sweep checks again, and a node that loses its lease disconnects everybody with
// a request to reconnect.
func (a *Authenticator) Check(h Holder) {
	if stands, err := a.stands(h.Standing()); err == nil && !stands {
		h.End(Over)
	}
}

func (hs *holders) add(h Holder) {
	key := h.Standing().key
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.byKey == nil {
		hs.byKey = map[string][]Holder{}
	}
	hs.byKey[key] = append(hs.byKey[key], h)
}

func (hs *holders) remove(h Holder) {
	key := h.Standing().key
	hs.mu.Lock()
	defer hs.mu.Unlock()
	list := hs.byKey[key]
	if i := slices.Index(list, h); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if hs.byKey[key] = list; len(list) == 0 {
		delete(hs.byKey, key)
	}
}

func (hs *holders) of(key string) []Holder {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return slices.Clone(hs.byKey[key])
}

func (hs *holders) all() []Holder {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	var out []Holder
	for _, list := range hs.byKey {
		out = append(out, list...)
	}
	return out
}
