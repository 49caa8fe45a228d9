package people

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"atelier/actors/durable"
)

// maxBarred bounds the number of stored hashes of deleted people. Beyond it, the oldest is dropped.
const maxBarred = 10_000

// maxSubject bounds a subject at a provider, in bytes (OpenID Connect Core, 2).
const maxSubject = 255

// identityHash identifies an identity at a provider without revealing it.
func identityHash(issuer, subject string) []byte { return barredHash("identity", issuer, subject) }

// loginHash identifies a login without revealing it.
func loginHash(login string) []byte { return barredHash("login", login) }

func barredHash(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:16]
}

// barredOf returns the hash that stays locked out after a person's deletion: the hash of their
// identity at the provider, or else of their login. If a deleted person had an identity, another
// identity with the same login is therefore a different person. The hash is nil for a helper for a
// day.
func barredOf(p *Person) []byte {
	switch {
	case p.Issuer != "":
		return identityHash(p.Issuer, p.Subject)
	case p.Login != "":
		return loginHash(p.Login)
	}
	return nil
}

// isBarred reports whether the identity or login with this hash stays locked out.
func (c *core) isBarred(hash []byte) bool {
	return slices.ContainsFunc(c.barred, func(b []byte) bool { return bytes.Equal(b, hash) })
}

// unbar ends the lock-out of a deleted person.
func (d *decision) unbar(hash []byte) {
	if d.core.isBarred(hash) {
		d.Event(&Event{Body: &Event_Unbarred{Unbarred: &Unbarred{Barred: hash}}})
	}
}

// Reasons why somebody with an account at the identity provider cannot sign in.
var (
	ErrDisabled   = durable.Reject(durable.Forbidden, "this account is disabled")
	ErrDeleted    = durable.Reject(durable.Forbidden, "this account was deleted; somebody must invite you again")
	ErrOtherLogin = durable.Reject(durable.Forbidden, "somebody who signs in another way has this login; the owner can link both")
	ErrNoLogin    = durable.Reject(durable.Forbidden, "this address cannot be a login here")
	ErrFull       = durable.Reject(durable.Forbidden, "there are too many people already")
)

// SignIn signs in a person who was verified by the identity provider. Only issuer and subject
// identify the person, because an address can change and be assigned to somebody else. Role is the
// role of a new person. The reply is the *Person.
type SignIn struct {
	Issuer, Subject string
	// Login is the person's address, verified and permitted.
	Login, Name, Role string
}

func (in SignIn) decide(d *decision) error {
	if in.Issuer == "" || in.Subject == "" || len(in.Subject) > maxSubject {
		return durable.Reject(durable.Invalid, "the identity provider names nobody")
	}
	if p := d.core.identified(in.Issuer, in.Subject); p != nil {
		return in.again(d, p)
	}
	login, err := checkLogin(in.Login)
	if err != nil || login == d.core.owner {
		return ErrNoLogin
	}
	if p := d.core.withLogin(login); p != nil {
		return in.link(d, p)
	}
	if d.core.isBarred(identityHash(in.Issuer, in.Subject)) || d.core.isBarred(loginHash(login)) {
		return ErrDeleted
	}
	if len(d.core.all) >= MaxPeople {
		return ErrFull
	}
	name, err := checkName(in.Name)
	if err != nil {
		name = login
	}
	if _, err := checkRole(in.Role, nil); err != nil {
		return err
	}
	p := &Person{
		Id: d.core.ids.Next(d.Now), Login: login, Name: name, Role: in.Role, CreatedAt: d.Now.UnixMilli(), Generation: 1,
	}
	in.accept(d, p)
	return nil
}

// again signs in a person who has signed in at the provider before.
func (in SignIn) again(d *decision, p *Person) error {
	switch {
	case p.Disabled:
		return ErrDisabled
	case !p.Accepted: // invited again meanwhile
		in.accept(d, p.Clone())
	case p.Link: // the permission ends with this sign-in, even if it was not needed
		next := p.Clone()
		next.Link = false
		d.Caller.ID = p.Id
		d.put(next, "people_update", map[string]string{"role": p.Role, "by": "oidc"})
	default:
		d.Reply = p
	}
	return nil
}

// link links a person to their account at the provider, once. The person was invited, or the owner
// has permitted the link.
func (in SignIn) link(d *decision, p *Person) error {
	switch {
	case p.Disabled:
		return ErrDisabled
	case State(p, d.Now) != Invited && !p.Link:
		return ErrOtherLogin
	}
	next := p.Clone()
	next.Generation++
	in.accept(d, next)
	return nil
}

// accept records that a person now signs in only at the provider.
func (in SignIn) accept(d *decision, p *Person) {
	p.Issuer, p.Subject, p.Link = in.Issuer, in.Subject, false
	p.Accepted, p.Invitation, p.InvitationEndsAt, p.Password = true, nil, 0, ""
	d.Caller.ID = p.Id
	d.unbar(identityHash(in.Issuer, in.Subject))
	d.put(p, "people_accept", map[string]string{"role": p.Role, "by": "oidc"})
}
