package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"sync"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/catalog/catalogpb"
	"atelier/transport/limit"
)

// TokenPrefix starts every API token, so that scanners recognise a leaked one.
const TokenPrefix = "atl_"

// Config of an Authenticator. All fields are required.
type Config struct {
	AdminID, AdminPassword          string
	AdminLifetime, AttendeeLifetime time.Duration
	Signer                          *Signer
	Sessions                        *catalog.Sessions
	// Tokens returns the API tokens as they are now.
	Tokens func() *catalog.SettingsView
	// Failures limits failed logins by address and account.
	Failures *limit.Limiter
	// PINKey keys the hash of rejoin codes.
	PINKey []byte
	Now    func() time.Time
}

// Authenticator tells who is calling. Safe for concurrent use.
type Authenticator struct {
	Config
	cache sessionCache
}

// New returns an Authenticator.
func New(cfg Config) *Authenticator { return &Authenticator{Config: cfg} }

// Identity is who is calling, as far as it is known. The zero value is nobody.
type Identity struct {
	// SessionID is the browser's session; "" without one.
	SessionID string
	session   *catalogpb.Session
	// Token is the API token; nil without one.
	Token *catalogpb.ApiToken
	now   int64
}

// Identify reads the cookie and the Authorization header of a request. What
// does not verify counts as absent; badToken tells of a bearer that is no
// token of ours.
func (a *Authenticator) Identify(cookie, authorization string) (id Identity, badToken bool) {
	id.now = a.Now().UnixMilli()
	if authorization != "" {
		scheme, token, _ := strings.Cut(authorization, " ")
		if strings.EqualFold(scheme, "Bearer") {
			hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
			id.Token = a.Tokens().Token(hash[:])
			return id, id.Token == nil
		}
	}
	if cookie == "" {
		return id, false
	}
	sid, ok := a.cache.get(cookie, id.now)
	if !ok {
		var err error
		if sid, err = a.Signer.SessionID(cookie); err != nil {
			return id, false
		}
		a.cache.put(cookie, sid, id.now)
	}
	if id.session = a.Sessions.Get(sid); id.session != nil {
		id.SessionID = sid
	}
	return id, false
}

// Known says whether anybody is calling.
func (i *Identity) Known() bool { return i.session != nil || i.Token != nil }

// Admin says whether the caller holds an admin's grant.
func (i *Identity) Admin() bool {
	return i.Token != nil || i.session != nil && i.session.AdminExpiresAt > i.now
}

// AdminName is the name under which the admin appears to others.
func (i *Identity) AdminName() string {
	if i.session != nil && i.session.AdminName != "" {
		return i.session.AdminName
	}
	return "Facilitator"
}

// Person tells admins apart: the login, or the API token.
func (i *Identity) Person() string {
	if i.Token != nil {
		return "token:" + i.Token.Id
	}
	return "login:" + i.session.AdminLogin
}

// Attendee returns the id of the caller's attendee in a codelab, or "".
func (i *Identity) Attendee(codelab string) string {
	if i.session == nil {
		return ""
	}
	if g := i.session.Attendees[codelab]; g != nil && g.ExpiresAt > i.now {
		return g.AttendeeId
	}
	return ""
}

// AnyAttendee says whether the caller is an attendee of some codelab.
func (i *Identity) AnyAttendee() bool {
	any := false
	i.Codelabs(func(string, string) { any = true })
	return any
}

// Codelabs calls fn for each codelab the caller is registered in.
func (i *Identity) Codelabs(fn func(codelab, attendee string)) {
	if i.session == nil {
		return
	}
	for codelab, g := range i.session.Attendees {
		if g.ExpiresAt > i.now {
			fn(codelab, g.AttendeeId)
		}
	}
}

// Grant is one grant as GET /session shows it; times in Unix seconds.
type Grant struct {
	Sub, Role, CodelabID string
	Expires              int64
}

// Strongest returns the strongest grant: the admin's, else the attendee's that
// lasts longest; or the attendee grant for a codelab when one is named. An
// attendee grant counts only while alive says that its attendee exists.
func (i *Identity) Strongest(adminID, codelab string, alive func(codelab string) bool) (g Grant, ok bool) {
	switch {
	case codelab != "":
	case i.Token != nil:
		return Grant{Sub: adminID, Role: "admin"}, true
	case i.Admin():
		return Grant{Sub: adminID, Role: "admin", Expires: i.session.AdminExpiresAt / 1000}, true
	}
	i.Codelabs(func(lab, attendee string) {
		expires := i.session.Attendees[lab].ExpiresAt / 1000
		later := !ok || expires > g.Expires || expires == g.Expires && lab > g.CodelabID
		if (codelab == "" || lab == codelab) && later && alive(lab) {
			g, ok = Grant{attendee, "attendee", lab, expires}, true
		}
	})
	return g, ok
}

// GrantExpires returns when the grant that a live connection stands on ends,
// Unix milliseconds; 0 for never.
func (i *Identity) GrantExpires(codelab string, admin bool) int64 {
	switch {
	case i.Token != nil:
		return 0
	case admin:
		return i.session.AdminExpiresAt
	default:
		return i.session.Attendees[codelab].GetExpiresAt()
	}
}

// CheckPassword compares id and password in constant time.
func (a *Authenticator) CheckPassword(id, password string) bool {
	eq := func(x, y string) int {
		hx, hy := sha256.Sum256([]byte(x)), sha256.Sum256([]byte(y))
		return subtle.ConstantTimeCompare(hx[:], hy[:])
	}
	return eq(id, a.AdminID)&eq(password, a.AdminPassword) == 1
}

// Issued is a new session: what the browser gets.
type Issued struct {
	SessionID, Cookie, CSRF string
	Expires                 time.Time
}

// GrantAdmin starts a session with an admin's grant.
func (a *Authenticator) GrantAdmin(old Identity, name string) (Issued, error) {
	expires := a.Now().Add(a.AdminLifetime)
	return a.issue(old, func(s *catalogpb.Session) {
		s.AdminLogin, s.AdminName, s.AdminExpiresAt = Random(9), name, expires.UnixMilli()
	})
}

// GrantAttendee starts a session with an attendee's grant.
func (a *Authenticator) GrantAttendee(old Identity, codelab, attendee string) (Issued, error) {
	expires := a.Now().Add(a.AttendeeLifetime)
	return a.issue(old, func(s *catalogpb.Session) {
		s.Attendees[codelab] = &catalogpb.AttendeeGrant{AttendeeId: attendee, ExpiresAt: expires.UnixMilli()}
	})
}

func (a *Authenticator) issue(old Identity, grant func(*catalogpb.Session)) (Issued, error) {
	id := Random(24)
	rec, err := a.Sessions.Replace(old.SessionID, id, grant)
	if err != nil {
		return Issued{}, err
	}
	last := rec.AdminExpiresAt
	for _, g := range rec.Attendees {
		last = max(last, g.ExpiresAt)
	}
	expires := time.UnixMilli(last)
	cookie, err := a.Signer.Cookie(id, expires)
	return Issued{id, cookie, a.Signer.CSRF(id), expires}, err
}

// PINHash is the keyed hash under which a rejoin code is kept; nil for none.
func (a *Authenticator) PINHash(codelab, code string) []byte {
	if code == "" {
		return nil
	}
	m := hmac.New(sha256.New, a.PINKey)
	m.Write([]byte(codelab))
	m.Write([]byte{0})
	m.Write([]byte(code))
	return m.Sum(nil)
}

// sessionCache remembers which cookies verified: checking a signature costs
// 3 us, as much as all the rest of a small read. What a session may do is not
// cached. The two generations bound it.
type sessionCache struct {
	mu       sync.RWMutex
	new, old map[string]cached
}

type cached struct {
	sid string
	at  int64
}

const (
	cacheSize = 16384
	// cacheFor is how long a verified cookie is believed without looking at
	// its expiry again, milliseconds.
	cacheFor = 10_000
)

func (c *sessionCache) get(cookie string, now int64) (string, bool) {
	c.mu.RLock()
	e, ok := c.new[cookie]
	if !ok {
		e, ok = c.old[cookie]
	}
	c.mu.RUnlock()
	return e.sid, ok && now-e.at < cacheFor
}

func (c *sessionCache) put(cookie, sid string, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.new == nil || len(c.new) >= cacheSize {
		c.old, c.new = c.new, map[string]cached{}
	}
	c.new[cookie] = cached{sid, now}
}
