package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
)

const issuer = "https://id.example.org"

func signIn(subject, email string) SignIn {
	return SignIn{Issuer: issuer, Subject: subject, Login: email, Name: "Ann", Role: Facilitator}
}

func (o *office) signIn(subject, email string) *Person {
	o.t.Helper()
	return o.do(Caller{}, signIn(subject, email))
}

func TestTheFirstSignInCreatesAPerson(t *testing.T) {
	o := newOffice(t)
	p := o.signIn("1", "ann@example.org")
	if p.Login != "ann@example.org" || p.Name != "Ann" || p.Role != Facilitator || State(p, o.now) != Active || p.Issuer != issuer {
		t.Errorf("the first sign-in created %v", p)
	}
	if again := o.signIn("1", "ann@example.org"); again.Id != p.Id || again.Generation != p.Generation {
		t.Errorf("the second sign-in returned %v, the first %v", again, p)
	}
	if n := len(o.c.all); n != 1 {
		t.Errorf("two sign-ins created %d people", n)
	}
}

func TestAnIdentityIsTheIssuerAndSubject(t *testing.T) {
	o := newOffice(t)
	p := o.signIn("1", "ann@example.org")
	if moved := o.signIn("1", "ann.new@example.org"); moved.Id != p.Id || moved.Login != "ann@example.org" {
		t.Errorf("with another e-mail address, the person is %v", moved)
	}
	o.refused(Caller{}, signIn("2", "ann@example.org"), durable.Forbidden)
	elsewhere := signIn("1", "ann@example.org")
	elsewhere.Issuer = "https://id.example.com"
	o.refused(Caller{}, elsewhere, durable.Forbidden)
}

func TestASignInLinksAnInvitedPerson(t *testing.T) {
	o := newOffice(t)
	invited := o.invite("ann@example.org", Assistant)
	p := o.signIn("1", "ann@example.org")
	if p.Id != invited.Id || p.Role != Assistant || !p.Accepted {
		t.Errorf("the invited person became %v", p)
	}
	o.refused(Caller{}, Accept{Token: invited.Invitation, Password: "hash"}, durable.Missing)
	o.refused(Caller{}, signIn("2", "admin"), durable.Forbidden) // the owner's login
}

func TestTheOwnerAllowsLinkingOnce(t *testing.T) {
	o := newOffice(t)
	p := o.invite("ann@example.org", Facilitator)
	o.do(Caller{}, Accept{Token: p.Invitation, Password: "hash"})
	o.refused(Caller{}, signIn("1", "ann@example.org"), durable.Forbidden)
	yes := true
	asa := o.invite("asa@example.org", Assistant)
	o.refused(Caller{ID: p.Id}, Update{ID: asa.Id, Link: &yes}, durable.Forbidden)
	before := o.do(owner, Update{ID: p.Id, Link: &yes}).Generation
	linked := o.signIn("1", "ann@example.org")
	if linked.Id != p.Id || linked.Password != "" || linked.Link {
		t.Errorf("the linked person is %v", linked)
	}
	if o.c.Capture().Stands(p.Id, before, o.now) {
		t.Error("a session from before the link is still valid")
	}
	o.refused(Caller{}, signIn("2", "ann@example.org"), durable.Forbidden)
}

// A sign-in uses up the permission to link even if the person did not need it.
func TestASignInOfALinkedPersonUsesUpThePermission(t *testing.T) {
	o := newOffice(t)
	p := o.signIn("1", "ann@example.org")
	yes := true
	o.do(owner, Update{ID: p.Id, Link: &yes})
	if again := o.signIn("1", "ann@example.org"); again.Link || again.Generation != p.Generation {
		t.Errorf("after the sign-in, the person is %v", again)
	}
	o.refused(Caller{}, signIn("2", "ann@example.org"), durable.Forbidden)
}

func TestDeletedPeopleStayOutUntilInvited(t *testing.T) {
	o := newOffice(t)
	o.do(owner, Delete{ID: o.signIn("1", "ann@example.org").Id})
	o.refused(Caller{}, signIn("1", "ann@example.org"), durable.Forbidden)
	o.refused(Caller{}, signIn("1", "ann.new@example.org"), durable.Forbidden)
	// Another account of the provider with the same email address is a different person.
	max := o.signIn("2", "ann@example.org")
	o.do(owner, Delete{ID: max.Id})

	invited := o.invite("ann@example.org", Assistant)
	if p := o.signIn("1", "ann@example.org"); p.Id != invited.Id {
		t.Errorf("the invited person is %v", p)
	}
	if o.c.isBarred(identityHash(issuer, "1")) || o.c.isBarred(loginHash("ann@example.org")) || !o.c.isBarred(identityHash(issuer, "2")) {
		t.Errorf("barred hashes: %x", o.c.barred)
	}
	// The invited person is no longer barred, not even after the log was erased and replayed.
	o.do(owner, InviteAgain{ID: invited.Id, Token: []byte("next")})
	o.replays()
	o.signIn("1", "ann.new@example.org")
	o.refused(Caller{}, signIn("2", "max@example.org"), durable.Forbidden)
	o.replays()
}

func TestDisabledPeopleStayOut(t *testing.T) {
	o := newOffice(t)
	yes := true
	for _, p := range []*Person{o.signIn("1", "ann@example.org"), o.invite("max@example.org", Facilitator)} {
		o.do(owner, Update{ID: p.Id, Disabled: &yes, Link: &yes})
	}
	o.refused(Caller{}, signIn("1", "ann@example.org"), durable.Forbidden)
	o.refused(Caller{}, signIn("2", "max@example.org"), durable.Forbidden)
}

func TestANewInvitationCanBeUsedByAnyAccountWithTheLogin(t *testing.T) {
	o := newOffice(t)
	yes := true
	first := o.signIn("1", "ann@example.org")
	o.do(owner, Update{ID: first.Id, Link: &yes})
	p := o.do(owner, InviteAgain{ID: first.Id, Token: []byte("next")})
	if State(p, o.now) != Invited || p.Link || o.c.Capture().Stands(p.Id, first.Generation, o.now) {
		t.Errorf("after a new invitation, the person is %v", p)
	}
	// Either the same identity with any address can sign in, or another account with the login.
	if same := o.signIn("1", "ann.new@example.org"); same.Id != p.Id || !same.Accepted {
		t.Errorf("the same account signed in as %v", same)
	}
	o.do(owner, InviteAgain{ID: first.Id, Token: []byte("third")})
	if next := o.signIn("2", "ann@example.org"); next.Id != p.Id || next.Subject != "2" {
		t.Errorf("another account signed in as %v", next)
	}
	o.refused(Caller{}, signIn("1", "ann@example.org"), durable.Forbidden)
	// An invitation accepted with a password is linked to no account of the provider.
	o.do(owner, InviteAgain{ID: first.Id, Token: []byte("fourth")})
	if p := o.do(Caller{}, Accept{Token: []byte("fourth"), Password: "hash"}); p.Issuer != "" || p.Password != "hash" {
		t.Errorf("after accepting with a password, the person is %v", p)
	}
	o.refused(Caller{}, signIn("2", "ann@example.org"), durable.Forbidden)
	o.replays()
}

func TestADeletedPersonStaysOut(t *testing.T) {
	o := newOffice(t)
	yes := true
	// This person is invited again, then disabled, then deleted.
	ann := o.signIn("1", "ann@example.org")
	o.do(owner, InviteAgain{ID: ann.Id, Token: []byte("next")})
	o.do(owner, Update{ID: ann.Id, Disabled: &yes})
	o.refused(Caller{}, signIn("1", "ann.new@example.org"), durable.Forbidden)
	o.do(owner, Delete{ID: ann.Id})
	o.refused(Caller{}, signIn("1", "ann@example.org"), durable.Forbidden)
	// These invitations are accepted with a password, or never accepted.
	for i, token := range []string{"password", ""} {
		login := fmt.Sprintf("asa%d@example.org", i)
		p := o.invite(login, Assistant)
		if token != "" {
			o.do(Caller{}, Accept{Token: p.Invitation, Password: "hash"})
		}
		o.do(owner, Delete{ID: p.Id})
		o.refused(Caller{}, signIn("7", login), durable.Forbidden)
		again := o.invite(login, Assistant)
		if q := o.signIn("7", login); q.Id != again.Id || q.Role != Assistant {
			t.Errorf("after a new invitation, they signed in as %v", q)
		}
		o.do(owner, Delete{ID: again.Id})
	}
	o.replays()
}

func TestSignInsWithoutAnIdentityAreRefused(t *testing.T) {
	o := newOffice(t)
	for what, in := range map[string]SignIn{
		"no issuer":       {Subject: "1", Login: "ann@example.org", Role: Facilitator},
		"no subject":      {Issuer: issuer, Login: "ann@example.org", Role: Facilitator},
		"a long subject":  signIn(strings.Repeat("1", 256), "ann@example.org"),
		"an unknown role": {Issuer: issuer, Subject: "1", Login: "ann@example.org", Role: "owner"},
	} {
		t.Run(what, func(t *testing.T) { o.refused(Caller{}, in, durable.Invalid) })
	}
	for _, email := range []string{"", strings.Repeat("a", 70) + "@example.org", "änn@example.org"} {
		o.refused(Caller{}, signIn("1", email), durable.Forbidden)
	}
	unnamed := signIn("1", "ann@example.org")
	unnamed.Name = "Ann\nNext"
	if p := o.do(Caller{}, unnamed); p.Name != "ann@example.org" {
		t.Errorf("a name of two lines became %q", p.Name)
	}
}

func TestDeletedPeopleAreBounded(t *testing.T) {
	o := newOffice(t)
	p := o.signIn("1", "ann@example.org")
	for i := range maxBarred + 5 {
		o.c.Apply(0, &Event{Body: &Event_Deleted{Deleted: &Deleted{Id: "x", Barred: identityHash(issuer, fmt.Sprint("gone ", i))}}})
	}
	if n := len(o.c.barred); n != maxBarred {
		t.Errorf("%d deleted people are remembered, want %d", n, maxBarred)
	}
	o.c.all = slices.Repeat([]*Person{p}, MaxPeople)
	o.refused(Caller{}, signIn("2", "max@example.org"), durable.Forbidden)
}

// replays verifies that the log and a snapshot both restore the current state.
func (o *office) replays() {
	o.t.Helper()
	again := newCore("admin")
	for i, e := range o.log {
		again.Apply(uint64(i+1), e)
	}
	kind := Kind(nil, "admin")
	want, _ := kind.EncodeState(o.c.Capture())
	if got, _ := kind.EncodeState(again.Capture()); !slices.Equal(got, want) {
		o.t.Errorf("a replay of the log yields %x, want %x", got, want)
	}
	restored := newCore("admin")
	if err := restored.Restore(1, want); err != nil {
		o.t.Fatal(err)
	}
	if got, _ := kind.EncodeState(restored.Capture()); !slices.Equal(got, want) {
		o.t.Errorf("a snapshot yields %x, want %x", got, want)
	}
	if len(restored.barred) != len(o.c.barred) {
		o.t.Errorf("a snapshot has %d deleted people, want %d", len(restored.barred), len(o.c.barred))
	}
	var log []byte
	for _, e := range o.log {
		log = append(log, pbwire.Encode(e)...)
	}
	if strings.Contains(string(log), "max@") {
		o.t.Error("the log contains the e-mail address of a refused person")
	}
}

// A new invitation permanently removes a login from the list of deleted people. After the invited
// person is deleted too, the provider's next account with that address is a different person.
func TestAnInvitationUnbarsALogin(t *testing.T) {
	o := newOffice(t)
	invite := Invite{Login: "ann@example.org", Name: "Ann", Role: Facilitator, Token: []byte("t")}
	o.do(owner, Delete{o.do(owner, invite).Id})
	o.do(owner, invite)
	first := SignIn{Issuer: "https://id.test", Subject: "1", Login: "ann@example.org", Name: "Ann", Role: Facilitator}
	o.do(owner, Delete{o.do(Caller{}, first).Id})
	if _, err := o.try(Caller{}, first); !errors.Is(err, ErrDeleted) {
		t.Errorf("the deleted person signs in: %v, want ErrDeleted", err)
	}
	second := first
	second.Subject = "2"
	if _, err := o.try(Caller{}, second); err != nil {
		t.Errorf("another account signs in: %v", err)
	}
}
