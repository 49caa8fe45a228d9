package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/login"
	"atelier/actors/login/loginpb"
	"atelier/actors/naming"
	"atelier/actors/settings"
	"atelier/actors/settings/settingspb"
)

// TokenPrefix starts every API token, so that scanners recognise a leaked one.
const TokenPrefix = "atl_"

// Config of an Authenticator. All fields are required.
type Config struct {
	AdminID, AdminPassword          string
	AdminLifetime, AttendeeLifetime time.Duration
	Signer                          *Signer
	Sessions                        *login.Sessions
	// Tokens returns the API tokens as they are now, or an error while that
	// cannot be found out.
	Tokens func() (*settings.View, error)
	// Failures limits failed logins.
	Failures *Failures
	// PINKey keys the hash of rejoin codes.
	PINKey []byte
	Now    func() time.Time
}

// Authenticator tells who is calling, and ends what stands on a grant that has
// ended. Safe for concurrent use.
type Authenticator struct {
	Config
	cache   sessionCache
	holders holders
}

// New returns an Authenticator.
func New(cfg Config) *Authenticator { return &Authenticator{Config: cfg} }

// Identify reads the cookie and the Authorization header of a request. What
// does not verify counts as absent; badToken tells of a bearer that is no
// token of ours. It fails with durable.ErrUnavailable when it cannot be found
// out who is calling: nobody may be told then that they are not logged in.
func (a *Authenticator) Identify(cookie, authorization string) (id Identity, badToken bool, err error) {
	id.now = a.Now().UnixMilli()
	if authorization != "" {
		scheme, token, _ := strings.Cut(authorization, " ")
		if strings.EqualFold(scheme, "Bearer") {
			tokens, err := a.Tokens()
			if err != nil {
				return id, false, err
			}
			hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
			id.Token = tokens.Token(hash[:])
			return id, id.Token == nil, nil
		}
	}
	if cookie == "" {
		return id, false, nil
	}
	sid, ok := a.cache.get(cookie, id.now)
	if !ok {
		var bad error
		if sid, bad = a.Signer.SessionID(cookie); bad != nil {
			return id, false, nil
		}
		a.cache.put(cookie, sid, id.now)
	}
	s, ok, err := a.Sessions.Use(sid)
	if ok {
		id.SessionID, id.session = sid, s
	}
	return id, false, err
}

// Forget drops what is kept only to be faster, when nobody is in a hurry.
func (a *Authenticator) Forget() { a.cache.forget() }

// CheckPassword compares id and password in constant time.
func (a *Authenticator) CheckPassword(id, password string) bool {
	eq := func(x, y string) int {
		hx, hy := sha256.Sum256([]byte(x)), sha256.Sum256([]byte(y))
		return subtle.ConstantTimeCompare(hx[:], hy[:])
	}
	return eq(id, a.AdminID)&eq(password, a.AdminPassword) == 1
}

// Issued is a new session id: what the browser gets.
type Issued struct {
	Cookie, CSRF string
	Expires      time.Time
}

// GrantAdmin issues a session id with an admin's grant.
func (a *Authenticator) GrantAdmin(old Identity, name string) (Issued, error) {
	id := Random(24)
	last, err := a.Sessions.GrantAdmin(old.SessionID, id, &loginpb.AdminGrant{
		Login: Random(9), Name: name, ExpiresAt: a.Now().Add(a.AdminLifetime).UnixMilli(),
	})
	if err != nil {
		return Issued{}, err
	}
	return a.issued(id, last)
}

// GrantAttendee issues a session id with the grant, of a generation, of an attendee
// who registered under a name.
func (a *Authenticator) GrantAttendee(old Identity, codelab, attendee, name string, generation uint32) (Issued, error) {
	id := Random(24)
	last, err := a.Sessions.GrantAttendee(old.SessionID, id, codelab, name, &loginpb.AttendeeGrant{
		AttendeeId: attendee, Generation: generation, ExpiresAt: a.Now().Add(a.AttendeeLifetime).UnixMilli(),
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

// Reserved says that a name belongs to an admin who is logged in.
func (a *Authenticator) Reserved(name string) bool { return a.Sessions.NamesAdmin(name) }

// PINHash is the hash under which a rejoin code is kept; nil for none.
func (a *Authenticator) PINHash(lab, code string) []byte {
	return codelab.HashPIN(a.PINKey, lab, code)
}

// Identity is who is calling, as far as it is known. The zero value is nobody.
// It tells what the caller may do now: when their session ends, it is nobody's.
type Identity struct {
	// SessionID is the browser's session; "" without one.
	SessionID string
	session   login.Session
	// Token is the API token; nil without one.
	Token *settingspb.ApiToken
	// operator: whoever may open the data folder is an admin without a login.
	operator bool
	now      int64
}

// Operator is who calls through the socket in the data folder.
func Operator() Identity { return Identity{operator: true} }

// Operator says that it is.
func (i *Identity) Operator() bool { return i.operator }

// Key names the caller: the same for all ids of a session; "" for nobody.
func (i *Identity) Key() string {
	switch {
	case i.operator:
		return "operator"
	case i.Token != nil:
		return tokenKey(i.Token.Id)
	case i.SessionID != "":
		return i.session.Family()
	}
	return ""
}

// Known says whether anybody is calling.
func (i *Identity) Known() bool { return i.operator || i.Token != nil || !i.session.Ended() }

// Admin says whether the caller holds an admin's grant.
func (i *Identity) Admin() bool { return i.operator || i.Token != nil || i.session.Admin(i.now) != nil }

// AdminName is the name under which the admin appears to others.
func (i *Identity) AdminName() string {
	if name := i.session.Admin(i.now).GetName(); name != "" {
		return name
	}
	return naming.Facilitator
}

// Person tells admins apart: the login, or the API token.
func (i *Identity) Person() string {
	if i.operator {
		return "operator"
	}
	if i.Token != nil {
		return tokenKey(i.Token.Id)
	}
	return "login:" + i.session.Admin(i.now).GetLogin()
}

// Grant returns the caller's attendee grant in a codelab, or nil. Whether its
// attendee is still there, the codelab knows.
func (i *Identity) Grant(codelab string) *loginpb.AttendeeGrant {
	if g := i.session.Attendees()[codelab]; g.GetExpiresAt() > i.now {
		return g
	}
	return nil
}

// Grants calls fn for each attendee grant that has not expired.
func (i *Identity) Grants(fn func(codelab string, g *loginpb.AttendeeGrant)) {
	for codelab, g := range i.session.Attendees() {
		if g.ExpiresAt > i.now {
			fn(codelab, g)
		}
	}
}

// Grant is one grant as GET /session shows it; times in Unix seconds.
type Grant struct {
	Sub, Role, CodelabID string
	Expires              int64
}

// Strongest returns the strongest grant: the admin's, else the attendee's that
// lasts longest. Without admin, or for a codelab that is named, only those of
// attendees count, and of them those for which alive says that the attendee
// exists. It fails if it finds none and alive failed for some: one of them may
// be the caller's.
func (i *Identity) Strongest(adminID, codelab string, admin bool, alive func(codelab string) (bool, error)) (g Grant, ok bool, err error) {
	switch {
	case codelab != "" || !admin:
	case i.Token != nil:
		return Grant{Sub: adminID, Role: "admin"}, true, nil
	case i.Admin():
		return Grant{Sub: adminID, Role: "admin", Expires: i.session.Admin(i.now).GetExpiresAt() / 1000}, true, nil
	}
	var unknown error
	i.Grants(func(lab string, a *loginpb.AttendeeGrant) {
		expires := a.ExpiresAt / 1000
		later := !ok || expires > g.Expires || expires == g.Expires && lab > g.CodelabID
		if codelab != "" && lab != codelab || !later {
			return
		}
		there, err := alive(lab)
		if err != nil {
			unknown = err
		} else if there {
			g, ok = Grant{a.AttendeeId, "attendee", lab, expires}, true
		}
	})
	if !ok {
		err = unknown
	}
	return g, ok, err
}
