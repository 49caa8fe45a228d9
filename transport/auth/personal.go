package auth

import (
	"strings"
	"time"
)

// PersonalPrefix starts every personal secret, so that scanners recognise a leaked secret.
const PersonalPrefix = "atp_"

// Purpose is the only use of a personal secret.
type Purpose string

// Purposes.
const (
	// Git reads the code of a codelab with a program that has no cookies.
	Git Purpose = "git"
	// Check reports the result of a check for the owner of the secret.
	Check Purpose = "check"
)

var purposes = []Purpose{Git, Check}

// Personal returns a secret with which a program acts for the caller in one codelab and for one
// purpose, and the latest expiry of the secret. The secret is a signed reference to a grant, and
// ends with it. If leading is true, the grant is the caller's login. Otherwise it is the attendee
// grant in the codelab. ok is false for callers without such a grant, such as API tokens and the
// operator.
func (a *Authenticator) Personal(who *Identity, p Purpose, codelab string, leading bool) (secret string, expires time.Time, ok bool, err error) {
	if who.SessionID == "" || who.session.Ended() {
		return "", time.Time{}, false, nil
	}
	role, of, until := "leader", who.grant.GetLogin(), who.grant.GetExpiresAt()
	if !leading {
		role, of, until = "attendee", "", 0
		if g := who.Grant(codelab); g != nil {
			of, until = g.AttendeeID, g.ExpiresAt
		}
	}
	if until <= who.now {
		return "", time.Time{}, false, nil
	}
	expires = time.UnixMilli(until)
	secret, err = a.Signer.sign(a.Signer.personal[p], strings.Join([]string{who.session.Family(), role, codelab, of}, "."), expires)
	return PersonalPrefix + secret, expires, true, err
}

// IdentifyPersonal returns the owner of a personal secret, and the only codelab in which
// the secret is valid. ok is false if the secret is invalid or its grant has ended.
// IdentifyPersonal fails like Identify.
func (a *Authenticator) IdentifyPersonal(p Purpose, secret string) (id Identity, codelab string, ok bool, err error) {
	signed, prefixed := strings.CutPrefix(secret, PersonalPrefix)
	reference, bad := a.Signer.open(a.Signer.personal[p], signed)
	if !prefixed || bad != nil {
		return Identity{}, "", false, nil
	}
	parts := strings.SplitN(reference, ".", 4)
	if len(parts) < 4 {
		return Identity{}, "", false, nil
	}
	codelab, leading := parts[2], parts[1] == "leader"
	s, ok, err := a.Sessions.Acting(parts[0], codelab, leading, parts[3])
	if err != nil || !ok {
		return Identity{}, "", false, err
	}
	id = Identity{now: a.Now().UnixMilli(), session: s}
	if leading {
		id.grant = s.Admin(id.now)
		if err := a.identifyPerson(&id); err != nil {
			return Identity{}, "", false, err
		}
		ok = id.Leads(codelab)
	}
	return id, codelab, ok, nil
}
