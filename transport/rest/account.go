package rest

import (
	"cmp"

	"atelier/actors/durable"
	"atelier/actors/login"
	"atelier/actors/people"
	"atelier/transport/auth"

	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// loginRecord is one login of the caller.
type loginRecord struct {
	ID        string `json:"id"`
	CreatedAt string `json:"created_at" is:"Timestamp"`
	LastSeen  string `json:"last_seen" is:"Timestamp" doc:"Rounded to a quarter of an hour."`
	Address   string `json:"address"`
	UserAgent string `json:"user_agent"`
	Current   bool   `json:"current" doc:"Whether this login made the request."`
}

type accountRecord struct {
	ID       string        `json:"id"`
	Login    *string       `json:"login"`
	Name     string        `json:"name"`
	Role     string        `json:"role" enum:"owner|facilitator|assistant"`
	Codelabs []string      `json:"codelabs" is:"Id"`
	SignIn   *string       `json:"sign_in" enum:"password|oidc" doc:"How they sign in. Null for a helper for a day."`
	Sessions []loginRecord `json:"sessions" doc:"Their logins, the latest first."`
}

// getAccount returns the caller's account and its sessions.
func getAccount(r *Request) error {
	if err := r.knowLogins(); err != nil {
		return err
	}
	logins := []loginRecord{}
	for _, g := range r.api.Auth.Sessions.Logins(r.who.PersonID()) {
		current := g.Login == r.who.LoginID()
		seen := login.SeenAt(g)
		if current {
			seen = r.api.Now().UnixMilli()
		}
		logins = append(logins, loginRecord{g.Login, wire.Stamp(g.CreatedAt), wire.Stamp(seen), g.Address, g.UserAgent, current})
	}
	out := accountRecord{r.api.AdminID, &r.api.AdminID, r.who.AdminName(), auth.Owner.String(), []string{}, new("password"), logins}
	if p := r.who.Leader(); p != nil {
		out.ID, out.Login, out.Role, out.Codelabs = p.Id, wire.OrNull(p.Login), p.Role, append(out.Codelabs, p.Codelabs...)
		out.SignIn = signsIn(p)
	}
	return r.JSON(out)
}

// knowLogins ensures that this node has received all logins that other nodes granted or ended before
// the call. It returns an error if this is not possible now.
func (r *Request) knowLogins() error {
	if r.api.Current == nil {
		return nil
	}
	return r.current(true)
}

func endLogin(r *Request) error {
	if err := r.knowLogins(); err != nil {
		return err
	}
	ended, err := r.api.Auth.EndLogin(&r.who, r.Param("session_id"))
	switch {
	case err != nil:
		return err
	case !ended:
		return durable.Reject(durable.Missing, "session not found")
	}
	return r.NoContent()
}

var (
	errOldPassword = &httpapi.Error{Status: 403, Text: "the old password is wrong"}
	errConfigured  = durable.Reject(durable.Conflict, "this password cannot be changed here: it is in the server's configuration, or in the file secrets/admin.password")
	errNoPasswords = &httpapi.Error{Status: 403, Text: "sign in with the identity provider: only the owner has a password here"}
	errNoPassword  = durable.Reject(durable.Conflict, "you sign in without a password")
)

type passwordChangeBody struct {
	Old *string `json:"old"`
	New *string `json:"new" length:"12..256"`
}

// changePassword changes the caller's password, ends all other sessions, and gives the current
// session a new id.
func changePassword(r *Request) error {
	var in passwordChangeBody
	if err := r.decode(&in); err != nil {
		return err
	}
	p := r.who.Leader()
	if err := auth.CheckPassword("new", *in.New, p.GetLogin()); err != nil {
		return err
	}
	switch {
	case p == nil:
		return errConfigured
	case r.api.OwnerPassword:
		return errNoPasswords
	case p.Password == "":
		return errNoPassword
	}
	device, err := r.deviceFor(p.Login)
	if err != nil {
		return err
	}
	attempt := r.api.Auth.Failures.Attempt(&r.who, device, r.ip(), p.Login)
	if wait := attempt.Charge(); wait > 0 {
		return httpapi.ErrTooMany(wait)
	}
	known := device != ""
	right, err := r.api.Passwords.Matches(*in.Old, p.Password, known)
	if right || err != nil {
		attempt.Right()
	}
	if err != nil {
		return err
	}
	if !right {
		return errOldPassword
	}
	hash, err := r.api.Passwords.Hash(*in.New, known)
	if err != nil {
		return err
	}
	next, _, err := r.askPeople(people.SetPassword{ID: p.Id, Was: p.Password, Password: hash})
	if err != nil {
		return err
	}
	return r.loggedIn(auth.Login{Person: next})
}

// loggedIn creates a session for a person who has authenticated, and responds.
func (r *Request) loggedIn(l auth.Login) error {
	if err := r.letIn(l); err != nil {
		return err
	}
	return r.ok()
}

// letIn creates a session for a person who has authenticated.
func (r *Request) letIn(l auth.Login) error {
	l.Address, l.UserAgent = r.ip(), string(r.Request.Header.UserAgent())
	l.UserAgent = l.UserAgent[:min(len(l.UserAgent), 256)]
	issued, err := r.api.Auth.GrantAdmin(r.who, l)
	if err != nil {
		return err
	}
	id := cmp.Or(l.Person.GetId(), r.api.AdminID)
	if err := r.audit("admin_login_success", "admin", id, nil); err != nil {
		return err
	}
	if l.Person != nil {
		r.seen(l.Person.Id)
	}
	r.started(issued)
	return r.known(l.Person.GetId())
}

// seenEvery is the precision with which a person's last visit is recorded.
const seenEvery = login.SeenEvery

// seen records a person's visit without waiting for the result. It does nothing for a HEAD request,
// or if the recorded visit is younger than seenEvery.
func (r *Request) seen(id string) {
	h, err := r.api.People.Get(people.ID)
	if err != nil || r.IsHead() || r.api.Now().UnixMilli()-h.View().SeenAt(id) < seenEvery.Milliseconds() {
		return
	}
	_ = h.Submit(people.Command{Body: people.NoteSeen{ID: id}}, discardReply{})
}

// discardReply is a receiver that discards a result.
type discardReply struct{}

func (discardReply) Reply(durable.Reply) {}
