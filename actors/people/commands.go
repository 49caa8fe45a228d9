package people

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/actors/registry"
)

// Caller is the acting account and its network address.
type Caller = registry.Caller

// Command is a command to the people actor.
type Command = registry.Command[Body]

// Body is one kind of command.
type Body interface {
	// decide adds the command's decision to d; it changes nothing else.
	decide(d *decision) error
}

// Vocabulary contains all commands, with their replies.
var Vocabulary = durable.NewVocabulary[Body](
	durable.Says[Invite, *Person](),
	durable.Says[InviteAgain, *Person](),
	durable.Says[Update, *Person](),
	durable.Says[Delete, durable.Nothing](),
	durable.Says[Accept, *Person](),
	durable.Says[SetPassword, *Person](),
	durable.Says[NoteSeen, durable.Nothing](),
	durable.Says[SignIn, *Person](),
)

// errInUse means that a login is in use.
var errInUse = durable.Reject(durable.Conflict, "this login is in use")

// loginRunes are the characters of a login after folding.
const loginRunes = "abcdefghijklmnopqrstuvwxyz0123456789._@+-"

// foldLogin normalizes a login for comparison. It folds only ASCII, because some other letters have
// an ASCII lower-case form, and the result could be somebody else's login.
func foldLogin(login string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, strings.TrimSpace(login))
}

func checkLogin(login string) (string, error) {
	folded := foldLogin(login)
	if n := len(folded); n < 3 || n > 80 || strings.Trim(folded, loginRunes) != "" {
		return "", durable.Reject(durable.Invalid, "login must be 3 to 80 of the characters a to z, 0 to 9 and . _ @ + -")
	}
	return folded, nil
}

func checkName(name string) (string, error) {
	line, ok := naming.Line(name)
	if ok {
		line = naming.Clean(line)
	}
	if n := utf8.RuneCountInString(line); !ok || n < 1 || n > 80 {
		return "", durable.Reject(durable.Invalid, "name must be one line of 1 to 80 characters")
	}
	return line, nil
}

// checkRole checks a role and the codelabs of a person with this role. It returns the codelabs
// without duplicates.
func checkRole(role string, codelabs []string) ([]string, error) {
	if !slices.Contains(Roles, role) {
		return nil, durable.Reject(durable.Invalid, "role must be %s", naming.Or(Roles...))
	}
	var labs []string
	for _, id := range codelabs {
		if !naming.ValidID(id) {
			return nil, durable.Reject(durable.Invalid, "codelabs must be ids of codelabs")
		}
		if !slices.Contains(labs, id) {
			labs = append(labs, id)
		}
	}
	switch {
	case role == Facilitator && len(labs) > 0:
		return nil, durable.Reject(durable.Invalid, "codelabs are for assistants: facilitators lead all")
	case len(codelabs) > MaxCodelabs:
		return nil, durable.Reject(durable.Invalid, "codelabs must name at most %d codelabs", MaxCodelabs)
	}
	return labs, nil
}

// mayLead reports whether the caller can manage people with a role.
func (d *decision) mayLead(role string) bool { return d.Caller.Owner || role == Assistant }

// known returns a person whom the caller can manage.
func (d *decision) known(id string) (*Person, error) {
	p := d.core.find(id)
	if p == nil || !d.mayLead(p.Role) {
		return nil, durable.Reject(durable.Missing, "person not found")
	}
	return p, nil
}

// Invite creates a person with an open invitation. Token is the hash of the invitation. With
// ExpiresAt, the person is a helper for a day: an assistant of one codelab without a login. Their
// account ends at ExpiresAt, between MinHelperLife and MaxHelperLife from now. The reply is the
// *Person.
type Invite struct {
	Login, Name, Role string
	Codelabs          []string
	ExpiresAt         int64 // Unix milliseconds; 0 if not a helper for a day
	Token             []byte
}

func (in Invite) decide(d *decision) error {
	name, err := checkName(in.Name)
	if err != nil {
		return err
	}
	labs, err := checkRole(in.Role, in.Codelabs)
	if err != nil {
		return err
	}
	if !d.mayLead(in.Role) {
		return durable.Reject(durable.Forbidden, "only the owner can invite facilitators")
	}
	p := &Person{
		Name: name, Role: in.Role, Codelabs: labs, Invitation: in.Token, CreatedAt: d.Now.UnixMilli(),
		InvitationEndsAt: d.Now.Add(InvitationLife).UnixMilli(), Generation: 1,
	}
	if in.ExpiresAt != 0 {
		err = in.helper(p, d.Now)
	} else {
		p.Login, err = d.freeLogin(in.Login)
	}
	switch {
	case err != nil:
		return err
	case len(d.core.all) >= MaxPeople:
		return durable.Reject(durable.Conflict, "there are %d people already; delete some first", MaxPeople)
	}
	p.Id = d.core.ids.Next(d.Now)
	d.unbar(loginHash(p.Login))
	d.put(p, "people_invite", map[string]string{"role": p.Role})
	return nil
}

// helper makes a person a helper for a day.
func (in Invite) helper(p *Person, now time.Time) error {
	left := time.UnixMilli(in.ExpiresAt).Sub(now)
	switch {
	case in.Login != "":
		return durable.Reject(durable.Invalid, "a helper with expires_at has no login")
	case in.Role != Assistant || len(p.Codelabs) != 1:
		return durable.Reject(durable.Invalid, "a helper with expires_at is an assistant of one codelab")
	case left < MinHelperLife || left > MaxHelperLife:
		return durable.Reject(durable.Invalid, "expires_at must be %d minutes to %d days from now",
			int(MinHelperLife.Minutes()), int(MaxHelperLife.Hours()/24))
	}
	p.ExpiresAt, p.InvitationEndsAt = in.ExpiresAt, in.ExpiresAt
	return nil
}

func (d *decision) freeLogin(login string) (string, error) {
	folded, err := checkLogin(login)
	if err != nil {
		return "", err
	}
	if folded == d.core.owner || d.core.withLogin(folded) != nil {
		return "", errInUse
	}
	return folded, nil
}

// InviteAgain opens a new invitation. The earlier one, the password and a permission to link become
// void, and all sessions end. The invitation can also be accepted from a different account with
// this login at the identity provider. The reply is the *Person.
type InviteAgain struct {
	ID    string
	Token []byte
}

func (in InviteAgain) decide(d *decision) error {
	p, err := d.known(in.ID)
	if err != nil {
		return err
	}
	next := p.Clone()
	next.Invitation, next.Password, next.Accepted, next.Link = in.Token, "", false, false
	next.MovedAt = 0
	next.Generation++
	next.InvitationEndsAt = d.Now.Add(InvitationLife).UnixMilli()
	if Helper(p) {
		next.InvitationEndsAt = p.ExpiresAt
	}
	d.put(next, "people_invite", map[string]string{"role": p.Role, "again": "true"})
	return nil
}

// Update changes a person; nil fields leave the value unchanged. A change of role, codelabs or
// Disabled ends the person's sessions. The reply is the *Person.
type Update struct {
	ID         string
	Name, Role *string
	Codelabs   *[]string
	Disabled   *bool
	// Link permits linking the person to the next sign-in with their login at the identity
	// provider. Only the owner can set it.
	Link *bool
}

func (in Update) decide(d *decision) error {
	p, err := d.known(in.ID)
	if err != nil {
		return err
	}
	next := p.Clone()
	if in.Name != nil {
		if next.Name, err = checkName(*in.Name); err != nil {
			return err
		}
	}
	if in.Role != nil {
		next.Role = *in.Role
		if next.Role == Facilitator {
			next.Codelabs = nil
		}
	}
	if in.Codelabs != nil {
		next.Codelabs = *in.Codelabs
	}
	if next.Codelabs, err = checkRole(next.Role, next.Codelabs); err != nil {
		return err
	}
	if in.Disabled != nil {
		// A revoked invitation is not restored when the account is enabled again.
		if next.Disabled = *in.Disabled; next.Disabled {
			next.Invitation, next.InvitationEndsAt = nil, 0
		}
	}
	if in.Link != nil {
		next.Link = *in.Link
	}
	switch {
	case !d.mayLead(next.Role):
		return durable.Reject(durable.Forbidden, "only the owner can make people facilitators")
	case in.Link != nil && !d.Caller.Owner:
		return durable.Reject(durable.Forbidden, "only the owner can link people with the identity provider")
	case next.Link && Helper(p):
		return durable.Reject(durable.Invalid, "a helper for a day has no login to link")
	case Helper(p) && (next.Role != Assistant || len(next.Codelabs) != 1):
		return durable.Reject(durable.Invalid, "a helper for a day is an assistant of one codelab")
	}
	rights := next.Role != p.Role || next.Disabled != p.Disabled || !slices.Equal(next.Codelabs, p.Codelabs)
	switch {
	case rights:
		next.Generation++
	case next.Name == p.Name && next.Link == p.Link: // no change
		d.Reply = p
		return nil
	}
	action := "people_update"
	if next.Disabled && !p.Disabled {
		action = "people_disable"
	}
	about := map[string]string{"role": next.Role, "codelabs": fmt.Sprint(len(next.Codelabs))}
	if next.Link && !p.Link {
		about["link"] = "true"
	}
	d.put(next, action, about)
	return nil
}

// Delete deletes a person.
type Delete struct{ ID string }

func (in Delete) decide(d *decision) error {
	p, err := d.known(in.ID)
	if err != nil {
		return err
	}
	d.Event(&Event{Body: &Event_Deleted{Deleted: &Deleted{Id: p.Id, Barred: barredOf(p)}}})
	d.record("people_delete", p, map[string]string{"role": p.Role})
	return nil
}

// ErrElsewhere means that a helper for a day is already signed in on another phone.
var ErrElsewhere = durable.Reject(durable.Conflict, "signed in on another phone: sign in here and end that?")

// Accept accepts an invitation. Password is the hash of the person's new password. A helper for a
// day has none; Here ends the helper's session on an earlier phone. The reply is the *Person.
type Accept struct {
	Token    []byte
	Password string
	Here     bool
}

func (in Accept) decide(d *decision) error {
	p := newView(d.core.all, nil, nil).Invited(in.Token, d.Now)
	if p == nil {
		return durable.Reject(durable.Missing, "this invitation is not valid any more")
	}
	next, about := p.Clone(), map[string]string{"role": p.Role}
	next.Accepted = true
	if Helper(p) {
		if p.Accepted && !in.Here {
			return ErrElsewhere
		}
		if p.Accepted {
			next.Generation++
			next.MovedAt = d.Now.UnixMilli()
			about["elsewhere"] = "true"
		}
	} else {
		if in.Password == "" {
			return durable.Reject(durable.Invalid, "password is required")
		}
		next.Invitation, next.InvitationEndsAt, next.Password, next.Link = nil, 0, in.Password, false
		next.Issuer, next.Subject = "", "" // from now on, they sign in with the password only
		next.Generation++
	}
	d.Caller.ID = p.Id
	d.put(next, "people_accept", about)
	return nil
}

// SetPassword changes a person's password, and ends all their sessions. Password is the hash of the
// new one. The reply is the *Person.
type SetPassword struct {
	ID string
	// Was is the hash with which the old password was compared, so that only one of two concurrent
	// changes succeeds.
	Was, Password string
}

func (in SetPassword) decide(d *decision) error {
	p := d.core.find(in.ID)
	switch {
	case p == nil:
		return durable.Reject(durable.Missing, "person not found")
	case p.Password != in.Was:
		return durable.Reject(durable.Conflict, "the password was just changed elsewhere")
	}
	next := p.Clone()
	next.Password = in.Password
	next.Generation++
	d.put(next, "people_password", nil)
	return nil
}

// NoteSeen records that a person was active. Callers need not wait for it.
type NoteSeen struct{ ID string }

func (in NoteSeen) decide(d *decision) error {
	if d.core.find(in.ID) != nil {
		d.Event(&Event{Body: &Event_Seen{Seen: &Seen{Id: in.ID}}})
	}
	return nil
}
