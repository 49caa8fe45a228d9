package rest

import (
	"crypto/sha256"
	"strings"
	"time"

	"atelier/actors/people"
	"atelier/transport/auth"

	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// personRecord is a facilitator, assistant or helper, as seen by people who can manage them.
type personRecord struct {
	ID        string   `json:"id" is:"Id"`
	Login     *string  `json:"login" doc:"In lower case. Null for a helper for a day."`
	Name      string   `json:"name"`
	Role      string   `json:"role" enum:"facilitator|assistant"`
	Codelabs  []string `json:"codelabs" is:"Id" doc:"The codelabs of an assistant. Empty for facilitators, who lead all codelabs."`
	State     string   `json:"state" enum:"invited|active|disabled" doc:"After its time a helper is «disabled»."`
	CreatedAt string   `json:"created_at" is:"Timestamp"`
	LastSeen  *string  `json:"last_seen" is:"Timestamp" doc:"Rounded to a quarter of an hour."`
	SignIn    *string  `json:"sign_in" enum:"password|oidc" doc:"How they sign in, once they have accepted."`
	ExpiresAt *string  `json:"expires_at" is:"Timestamp" doc:"The end of a helper for a day. Null for everybody else."`
	MovedAt   *string  `json:"moved_at" is:"Timestamp" doc:"The last time when a helper's link was opened in another browser, which signed out the former one. Null for never."`
	Link      bool     `json:"link,omitempty" doc:"True while the next sign-in at the identity provider with this login as e-mail address will be linked to this person; otherwise omitted."`
	// Invitation is present only if it was just created.
	Invitation *invitationRecord `json:"invitation,omitempty"`
}

type invitationRecord struct {
	URL       string `json:"url" doc:"The token follows «#», which browsers do not send to any server. Without a public URL it is a path."`
	ExpiresAt string `json:"expires_at" is:"Timestamp"`
}

func (a *API) recordOfPerson(v *people.View, p *people.Person) personRecord {
	return personRecord{
		ID: p.Id, Login: wire.OrNull(p.Login), Name: p.Name, Role: p.Role, Codelabs: append([]string{}, p.Codelabs...),
		State: people.State(p, a.Now()), CreatedAt: wire.Stamp(p.CreatedAt), LastSeen: wire.StampOrNull(v.SeenAt(p.Id)),
		ExpiresAt: wire.StampOrNull(p.ExpiresAt), MovedAt: wire.StampOrNull(p.MovedAt), Link: p.Link, SignIn: signsIn(p),
	}
}

// signsIn returns how a person signs in. It returns nil for helpers, and for people who cannot sign
// in yet.
func signsIn(p *people.Person) *string {
	switch {
	case p.Issuer != "" && p.Accepted:
		return new("oidc")
	case p.Password != "":
		return new("password")
	}
	return nil
}

// invited returns a person's record with the new invitation. The token is in the address's
// fragment, which browsers never send.
func (a *API) invited(v *people.View, p *people.Person, token string) personRecord {
	r := a.recordOfPerson(v, p)
	r.Invitation = &invitationRecord{
		URL: strings.TrimSuffix(a.Origins.PublicURL, "/") + "/invite#" + token, ExpiresAt: wire.Stamp(p.InvitationEndsAt),
	}
	return r
}

// newInvitation returns a new invitation token and its hash. Only the hash is stored.
func newInvitation() (token string, hash []byte) {
	token = auth.Random(32)
	return token, hashOf(token)
}

func hashOf(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}

// askPeople sends a command to the people actor. When askPeople returns, the sessions and
// connections that the command ends have ended on this node.
func (r *Request) askPeople(b people.Body) (*people.Person, *people.View, error) {
	h, err := r.api.People.Get(people.ID)
	if err != nil {
		return nil, nil, err
	}
	caller := people.Caller{
		Type: "admin", ID: r.actorID(), Owner: r.who.Rank() == auth.Owner, IP: r.ip(), UserAgent: string(r.Request.Header.UserAgent()),
	}
	v, _, err := h.Ask(people.Command{Caller: caller, Body: b})
	if err != nil {
		return nil, nil, err
	}
	if r.api.Auth != nil { // nil if a command of the binary runs without a server
		r.api.Auth.Sweep()
	}
	if err := r.api.ReleaseClaims(h.View()); err != nil {
		r.api.Logger.Warn("releasing the claims of a former facilitator failed; it is tried again later", "error", err)
	}
	p, _ := v.(*people.Person)
	return p, h.View(), nil
}

// ReleaseClaims releases the help requests whose claimants no longer lead the codelab.
func (a *API) ReleaseClaims(v *people.View) error {
	now := a.Now()
	return a.Codelabs.ReleaseClaims(func(person, codelab string) bool {
		p := v.Get(person)
		return p != nil && !p.Disabled && !people.Over(p, now) && people.Leads(p, codelab)
	})
}

// actorID returns the caller's id for the audit trail: the person's id, or the owner's account for
// the owner and for API tokens.
func (r *Request) actorID() string {
	if id := r.who.PersonID(); id != "" {
		return id
	}
	return r.api.AdminID
}

type personInviteBody struct {
	Login     string   `json:"login,omitempty" pattern:"^[A-Za-z0-9._@+-]{3,80}$" length:"3..80" doc:"Compared without case. Omitted for a helper for a day."`
	Name      *string  `json:"name" length:"1..80"`
	Role      *string  `json:"role" enum:"facilitator|assistant"`
	Codelabs  []string `json:"codelabs,omitempty" items:"..200" is:"Id" doc:"For an assistant."`
	ExpiresAt *string  `json:"expires_at,omitempty" format:"date-time" doc:"Creates a helper for a day: an assistant of one codelab, without a login, for 5 minutes to 7 days. Until then the invitation can be used, in one browser after another."`
}

func invitePerson(r *Request) error {
	var in personInviteBody
	if err := r.decode(&in); err != nil {
		return err
	}
	cmd := people.Invite{Login: in.Login, Name: *in.Name, Role: *in.Role, Codelabs: in.Codelabs}
	if in.ExpiresAt != nil {
		at, err := time.Parse(time.RFC3339, *in.ExpiresAt)
		if err != nil {
			return wire.Invalid("expires_at must be a time in the format of RFC 3339")
		}
		cmd.ExpiresAt = max(1, at.UnixMilli()) // 0 would mean that the helper never expires
	}
	for _, id := range in.Codelabs {
		if m, err := r.api.List.Get(id); err != nil {
			return err
		} else if m == nil {
			return wire.Invalid("codelabs contains the id of a codelab that does not exist")
		}
	}
	token, hash := newInvitation()
	cmd.Token = hash
	p, v, err := r.askPeople(cmd)
	if err != nil {
		return err
	}
	return r.JSON(r.api.invited(v, p, token))
}

func listPeople(r *Request) error {
	h, err := r.api.People.Get(people.ID)
	if err != nil {
		return err
	}
	v, out := h.View(), []personRecord{}
	for _, p := range v.All() {
		if r.who.Rank() == auth.Owner || p.Role == people.Assistant {
			out = append(out, r.api.recordOfPerson(v, p))
		}
	}
	return r.JSON(out)
}

type personUpdateBody struct {
	Name     *string   `json:"name,omitempty" length:"1..80"`
	Role     *string   `json:"role,omitempty" enum:"facilitator|assistant"`
	Codelabs *[]string `json:"codelabs,omitempty" items:"..200" is:"Id"`
	Disabled *bool     `json:"disabled,omitempty"`
	Link     *bool     `json:"link,omitempty" doc:"Once, a sign-in at the identity provider with their login as address becomes theirs, and their password ends. Only the owner can set this."`
}

func updatePerson(r *Request) error {
	var in personUpdateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	p, v, err := r.askPeople(people.Update{
		ID: r.Param("person_id"), Name: in.Name, Role: in.Role, Codelabs: in.Codelabs, Disabled: in.Disabled, Link: in.Link,
	})
	if err != nil {
		return err
	}
	return r.JSON(r.api.recordOfPerson(v, p))
}

func deletePerson(r *Request) error {
	if _, _, err := r.askPeople(people.Delete{ID: r.Param("person_id")}); err != nil {
		return err
	}
	return r.NoContent()
}

func invitePersonAgain(r *Request) error {
	token, hash := newInvitation()
	p, v, err := r.askPeople(people.InviteAgain{ID: r.Param("person_id"), Token: hash})
	if err != nil {
		return err
	}
	return r.JSON(r.api.invited(v, p, token))
}

var errNoInvitation = &httpapi.Error{Status: 404, Text: "this invitation is not valid any more"}

type codelabTitle struct {
	ID    string `json:"id" is:"Id"`
	Title string `json:"title"`
}

type invitationLookBody struct {
	Token *string `json:"token" doc:"The part after «#» in the address."`
}

type invitationShown struct {
	Name      string         `json:"name"`
	Login     *string        `json:"login"`
	Role      string         `json:"role" enum:"facilitator|assistant"`
	Codelabs  []codelabTitle `json:"codelabs"`
	ExpiresAt string         `json:"expires_at" is:"Timestamp"`
}

func lookAtInvitation(r *Request) error {
	var in invitationLookBody
	if err := r.decode(&in); err != nil {
		return err
	}
	h, err := r.api.People.Get(people.ID)
	if err != nil {
		return err
	}
	p := h.View().Invited(hashOf(*in.Token), r.api.Now())
	if p == nil {
		return errNoInvitation
	}
	labs := []codelabTitle{}
	for _, id := range p.Codelabs {
		if m, err := r.api.List.Get(id); err != nil {
			return err
		} else if m != nil {
			labs = append(labs, codelabTitle{m.Id, m.Title})
		}
	}
	return r.JSON(invitationShown{p.Name, wire.OrNull(p.Login), p.Role, labs, wire.Stamp(p.InvitationEndsAt)})
}

type invitationAcceptBody struct {
	Token    *string `json:"token"`
	Password string  `json:"password,omitempty" length:"12..256" doc:"Must not be the login or a very common password. Optional for a helper for a day."`
	Here     bool    `json:"here,omitempty" doc:"For a helper for a day who is signed in on another phone: end that session."`
}

// acceptInvitation sends the same response as a login.
func acceptInvitation(r *Request) error {
	var in invitationAcceptBody
	if err := r.decode(&in); err != nil {
		return err
	}
	h, err := r.api.People.Get(people.ID)
	if err != nil {
		return err
	}
	cmd := people.Accept{Token: hashOf(*in.Token), Here: in.Here}
	p := h.View().Invited(cmd.Token, r.api.Now())
	if p == nil { // checked before a password hash is computed, which is expensive
		return errNoInvitation
	}
	if !people.Helper(p) {
		if r.api.OwnerPassword {
			return errNoPasswords
		}
		if err := auth.CheckPassword("password", in.Password, p.Login); err != nil {
			return err
		}
		if cmd.Password, err = r.api.Passwords.Hash(in.Password, r.device() != ""); err != nil {
			return err
		}
	}
	if p, _, err = r.askPeople(cmd); err != nil {
		return err
	}
	return r.loggedIn(auth.Login{Person: p})
}
