package auth

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/login"
	"atelier/actors/login/loginpb"
	"atelier/actors/naming"
	"atelier/actors/people"
	"atelier/actors/settings"
)

// TokenPrefix starts every API token, so that scanners recognise a leaked token.
const TokenPrefix = "atl_"

// Config configures an Authenticator. All fields are required.
type Config struct {
	AdminID, AdminPassword          string
	AdminLifetime, AttendeeLifetime time.Duration
	Signer                          *Signer
	Sessions                        *login.Sessions
	// Tokens returns the current API tokens, or an error while they are unknown.
	Tokens func() (*settings.View, error)
	// People returns the current facilitators and assistants, or an error while they are unknown.
	People func() (*people.View, error)
	// Failures limits failed logins.
	Failures *Failures
	// PINKey keys the hash of rejoin codes.
	PINKey []byte
	Now    func() time.Time
}

// Authenticator identifies callers, and ends connections and AI answers when their grant ends. It
// is safe for concurrent use.
type Authenticator struct {
	Config
	cache   sessionCache
	holders holders
}

// New returns an Authenticator.
func New(cfg Config) *Authenticator { return &Authenticator{Config: cfg} }

// Identify reads the cookie and the Authorization header of a request. A bearer token has priority
// over the cookie; badToken reports that it is unknown or expired. An invalid cookie counts as
// absent. Identify fails with durable.ErrUnavailable if the caller cannot currently be identified.
// This way, nobody is treated as logged out by mistake.
func (a *Authenticator) Identify(cookie []byte, authorization string) (id Identity, badToken bool, err error) {
	id.now = a.Now().UnixMilli()
	if authorization != "" {
		scheme, token, _ := strings.Cut(authorization, " ")
		if strings.EqualFold(scheme, "Bearer") {
			tokens, err := a.Tokens()
			if err != nil {
				return id, false, err
			}
			hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
			if id.Token = tokens.Token(hash[:]); id.Token != nil && settings.Expired(id.Token, a.Now()) {
				id.Token = nil
			}
			return id, id.Token == nil, nil
		}
	}
	if len(cookie) == 0 {
		return id, false, nil
	}
	v := a.cache.get(cookie, id.now)
	if v == nil {
		sid, bad := a.Signer.SessionID(string(cookie))
		if bad != nil {
			return id, false, nil
		}
		v = &verified{sid, login.KeyOf(sid), a.Signer.csrfOf(sid), id.now}
		a.cache.put(string(cookie), v)
	}
	s, ok, err := a.Sessions.UseKey(v.key)
	if ok {
		id.SessionID, id.csrf, id.session = v.sid, &v.csrf, s
		id.grant = s.Admin(id.now)
		err = a.identifyPerson(&id)
	}
	return id, false, err
}

// identifyPerson finds the logged-in person; an ended login counts as absent.
func (a *Authenticator) identifyPerson(id *Identity) error {
	if id.grant.GetPerson() == "" {
		return nil
	}
	v, err := a.People()
	if err != nil {
		return err
	}
	if v.Stands(id.grant.Person, id.grant.Generation, a.Now()) {
		id.person = v.Get(id.grant.Person)
		return nil
	}
	id.grant = nil
	lives := false
	id.Grants(func(*login.AttendeeGrant) { lives = true })
	if !lives { // the session had no other grant
		id.SessionID, id.csrf, id.session = "", nil, login.Session{}
	}
	return nil
}

// Forget clears the cache of verified cookies.
func (a *Authenticator) Forget() { a.cache.forget() }

// CheckPassword reports whether id and password are the owner's. It compares in constant time.
func (a *Authenticator) CheckPassword(id, password string) bool {
	eq := func(x, y string) int {
		hx, hy := sha256.Sum256([]byte(x)), sha256.Sum256([]byte(y))
		return subtle.ConstantTimeCompare(hx[:], hy[:])
	}
	return eq(id, a.AdminID)&eq(password, a.AdminPassword) == 1
}

// Issued is a new session id as a cookie for the browser, with its CSRF token and expiry.
type Issued struct {
	Cookie, CSRF string
	Expires      time.Time
}

// Login describes a login of the owner, a facilitator or an assistant, with the client's IP address
// and user agent.
type Login struct {
	// Person is nil for the owner. Name is the display name that the owner entered, or "".
	Person             *people.Person
	Name               string
	Address, UserAgent string
}

// GrantAdmin issues a session id with the grant of the owner, a facilitator or an assistant. The
// new id replaces the session id of old, if any.
func (a *Authenticator) GrantAdmin(old Identity, l Login) (Issued, error) {
	id, now := Random(24), a.Now()
	g := &loginpb.AdminGrant{
		Login: Random(9), Name: l.Name, ExpiresAt: now.Add(a.AdminLifetime).UnixMilli(), CreatedAt: now.UnixMilli(),
		Address: l.Address, UserAgent: l.UserAgent,
	}
	if p := l.Person; p != nil {
		g.Name, g.Person, g.Generation = p.Name, p.Id, p.Generation
		if p.ExpiresAt > 0 {
			g.ExpiresAt = min(g.ExpiresAt, p.ExpiresAt)
		}
	}
	last, err := a.Sessions.GrantAdmin(old.SessionID, id, g)
	if err != nil {
		return Issued{}, err
	}
	return a.issued(id, last)
}

// GrantAttendee issues a session id with the grant of an attendee. name and generation are the
// attendee's. The new id replaces the session id of old, if any.
func (a *Authenticator) GrantAttendee(old Identity, codelab, attendee, name string, generation uint32) (Issued, error) {
	id := Random(24)
	last, err := a.Sessions.GrantAttendee(old.SessionID, id, name, login.AttendeeGrant{
		Codelab: codelab, AttendeeID: attendee, Generation: generation, ExpiresAt: a.Now().Add(a.AttendeeLifetime).UnixMilli(),
	})
	if err != nil {
		return Issued{}, err
	}
	return a.issued(id, last)
}

func (a *Authenticator) issued(id string, last int64) (Issued, error) {
	expires := time.UnixMilli(last)
	cookie, err := a.Signer.Cookie(id, expires)
	return Issued{cookie, a.Signer.CSRF(id), expires}, err
}

// Reserved reports whether a name belongs to a logged-in person: the owner, a facilitator, or an
// assistant of the codelab. It compares the current name of each person, which can have changed
// since the login. While the list of people is unavailable, it compares the names at login of all
// logged-in people, including the assistants of other codelabs.
func (a *Authenticator) Reserved(codelab, name string) bool {
	v, err := a.People()
	if a.Sessions.NamesAdmin(name, func(g *loginpb.AdminGrant) bool { return g.GetPerson() == "" || err != nil }) {
		return true
	}
	if err != nil {
		return false
	}
	return slices.ContainsFunc(v.Named(name), func(p *people.Person) bool {
		return people.Leads(p, codelab) && slices.ContainsFunc(a.Sessions.Logins(p.Id), func(g *loginpb.AdminGrant) bool {
			return v.Stands(p.Id, g.Generation, a.Now())
		})
	})
}

// PINHash computes the hash under which a rejoin code is stored. For an empty code it returns nil.
func (a *Authenticator) PINHash(lab, code string) []byte {
	return codelab.HashPIN(a.PINKey, lab, code)
}

// Identity is the caller, as far as known. The zero value is nobody. When the caller's session
// ends, the Identity has no permissions any more. It keeps its permissions when an API token, or
// the login of a facilitator or assistant, ends; Authenticator.Knows and Hold check this.
type Identity struct {
	// SessionID is the browser's session, or "".
	SessionID string
	csrf      *csrfToken // the session's CSRF token, or nil if there is no session
	session   login.Session
	// Token is the API token, or nil.
	Token *settings.ApiToken
	// operator is true for callers through the socket in the data folder. They are admins without a
	// login.
	operator bool
	// grant is the login of the owner, a facilitator or an assistant, and person is the logged-in
	// person. Both are nil if nobody is logged in; person is also nil for the owner.
	grant  *loginpb.AdminGrant
	person *people.Person
	now    int64 // Unix milliseconds
}

// Rank orders the rights of owner, facilitators and assistants; a greater rank has more rights.
type Rank uint8

// Ranks.
const (
	NoRank Rank = iota
	Assistant
	Facilitator
	Owner
)

// String returns the rank's name in GET /session.
func (r Rank) String() string {
	return [...]string{"", people.Assistant, people.Facilitator, "owner"}[r]
}

// Rank returns the rank of the caller. API tokens act as facilitators.
func (i *Identity) Rank() Rank {
	switch {
	case i.operator:
		return Owner
	case i.Token != nil:
		return Facilitator
	case !i.loggedIn():
		return NoRank
	case i.person == nil:
		return Owner
	case i.person.Role == people.Facilitator:
		return Facilitator
	}
	return Assistant
}

// Leads reports whether the caller is the owner, a facilitator, or an assistant of the codelab.
func (i *Identity) Leads(codelab string) bool {
	return i.Admin() || i.loggedIn() && people.Leads(i.person, codelab)
}

// loggedIn reports whether the caller has a login that has not ended.
func (i *Identity) loggedIn() bool {
	return i.grant != nil && i.grant.ExpiresAt > i.now && !i.session.Ended()
}

// Scope returns the calling API token's scope. For other callers it returns settings.ScopeAll.
func (i *Identity) Scope() string {
	return cmp.Or(i.Token.GetScope(), settings.ScopeAll)
}

// Leader returns the calling person. It returns nil for the owner and for callers who are not
// facilitators or assistants.
func (i *Identity) Leader() *people.Person { return i.person }

// LoginID returns the id of the login of the owner, a facilitator or an assistant, or "".
func (i *Identity) LoginID() string { return i.grant.GetLogin() }

// PersonID returns the id of the calling person. It returns "" for the owner and for callers who
// are not facilitators or assistants.
func (i *Identity) PersonID() string { return i.person.GetId() }

// Framed returns the caller with the rights of a page in a frame. For a session with the login of
// the owner, a facilitator or an assistant, this is nobody. The surrounding page controls what
// people see, so a click in the frame must not act with their rights.
func (i Identity) Framed() Identity {
	if i.grant != nil {
		return Identity{now: i.now}
	}
	return i
}

// Operator returns the identity of callers through the socket in the data folder.
func Operator() Identity { return Identity{operator: true} }

// Operator reports whether the caller is the operator.
func (i *Identity) Operator() bool { return i.operator }

// Key identifies the caller. It is the same for all ids of a session, and "" for nobody.
func (i *Identity) Key() string {
	switch {
	case i.operator:
		return "operator"
	case i.Token != nil:
		return tokenKey(i.Token.Id)
	case i.session != login.Session{}: // by a cookie, or by a personal secret
		return i.session.Family()
	}
	return ""
}

// Known reports whether the caller is identified.
func (i *Identity) Known() bool { return i.operator || i.Token != nil || !i.session.Ended() }

// Admin reports whether the caller is the owner or a facilitator.
func (i *Identity) Admin() bool { return i.Rank() >= Facilitator }

// AdminName returns the name under which the admin appears to others.
func (i *Identity) AdminName() string {
	switch {
	case i.person != nil:
		return i.person.Name
	case i.grant.GetName() != "":
		return i.grant.Name
	}
	return naming.Facilitator
}

// Person returns an id that distinguishes admins: the operator, the API token, the facilitator or
// assistant, or the owner's login.
func (i *Identity) Person() string {
	if i.operator {
		return "operator"
	}
	if i.Token != nil {
		return tokenKey(i.Token.Id)
	}
	if i.person != nil {
		return codelab.PersonPrefix + i.person.Id
	}
	return "login:" + i.grant.GetLogin()
}

// Grant returns the caller's attendee grant in a codelab, or nil. It does not check whether the
// attendee still exists.
func (i *Identity) Grant(codelab string) *login.AttendeeGrant {
	if g := i.session.Grant(codelab); g != nil && g.ExpiresAt > i.now {
		return g
	}
	return nil
}

// Siblings returns the ids of all attendees of a codelab who registered in this browser, as
// recorded in its sessions.
func (i *Identity) Siblings(codelab string) []string { return i.session.Siblings(codelab) }

// Grants calls fn for each attendee grant that has not expired.
func (i *Identity) Grants(fn func(*login.AttendeeGrant)) {
	all := i.session.Grants()
	for at := range all {
		if g := &all[at]; g.ExpiresAt > i.now {
			fn(g)
		}
	}
}

// Grant is a grant as GET /session shows it. Times are in Unix seconds.
type Grant struct {
	Sub, Role, CodelabID string
	// Rank is the rank of an admin or assistant; NoRank for an attendee. Codelabs lists an
	// assistant's codelabs. Expires is 0 for API tokens and for the operator.
	Rank     Rank
	Codelabs []string
	Expires  int64
}

// Strongest returns the strongest grant: the admin grant, or else the attendee grant that expires
// last. If admin is false or codelab is not empty, the admin grant is ignored. A codelab also
// limits the attendee grants to that codelab. An attendee grant counts only if alive returns true.
// If no grant counts and alive failed for one, Strongest returns this error, because that grant can
// be valid.
func (i *Identity) Strongest(adminID, codelab string, admin bool, alive func(codelab string) (bool, error)) (g Grant, ok bool, err error) {
	switch {
	case codelab != "" || !admin:
	case i.Token != nil:
		return Grant{Sub: adminID, Role: "admin", Rank: Facilitator}, true, nil
	case i.Rank() != NoRank:
		g := Grant{Sub: adminID, Role: "admin", Rank: i.Rank(), Expires: i.grant.GetExpiresAt() / 1000}
		if i.person != nil {
			g.Sub = i.person.Id
		}
		if g.Rank == Assistant {
			g.Role, g.Codelabs = people.Assistant, i.person.Codelabs
		}
		return g, true, nil
	}
	var unknown error
	i.Grants(func(a *login.AttendeeGrant) {
		lab, expires := a.Codelab, a.ExpiresAt/1000
		later := !ok || expires > g.Expires || expires == g.Expires && lab > g.CodelabID
		if codelab != "" && lab != codelab || !later {
			return
		}
		there, err := alive(lab)
		if err != nil {
			unknown = err
		} else if there {
			g, ok = Grant{Sub: a.AttendeeID, Role: "attendee", CodelabID: lab, Expires: expires}, true
		}
	})
	if !ok {
		err = unknown
	}
	return g, ok, err
}
