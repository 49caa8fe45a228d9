package people

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/registry"
	"atelier/persistence/memory"
)

// office is a core with its log.
type office struct {
	t       *testing.T
	journal *memory.Store
	trail   *audit.Trail
	c       *core
	actor   durable.Core[Command, *Event, View] // of c
	now     time.Time
	log     []*Event
}

func newOffice(t *testing.T) *office {
	t.Helper()
	journal := memory.New()
	t.Cleanup(func() { _ = journal.Close() })
	c := newCore("admin")
	trail := audit.New(journal, clock.System, time.Hour)
	return &office{t: t, journal: journal, now: time.Unix(1_800_000_000, 0), trail: trail, c: c, actor: registry.NewCore(c, trail)}
}

var owner = Caller{Type: "admin", ID: "admin", Owner: true}

// try decides a command, applies its events, and erases as the host does.
func (o *office) try(who Caller, b Body) (*Person, error) {
	o.t.Helper()
	d, err := o.actor.Decide(Command{Caller: who, Body: b}, durable.Env{Now: o.now})
	if err != nil {
		return nil, err
	}
	for _, e := range d.Events {
		o.log = append(o.log, e)
		o.c.Apply(uint64(len(o.log)), e)
		if erases(e) {
			change := erase(o.c.Capture())
			for i, old := range o.log {
				if next, changed := change(old); changed {
					o.log[i] = next
				}
			}
		}
	}
	p, _ := d.Reply.(*Person)
	return p, nil
}

func (o *office) do(who Caller, b Body) *Person {
	o.t.Helper()
	p, err := o.try(who, b)
	if err != nil {
		o.t.Fatalf("%T: %v", b, err)
	}
	return p
}

func (o *office) refused(who Caller, b Body, reason durable.Reason) {
	o.t.Helper()
	_, err := o.try(who, b)
	var r *durable.Rejection
	if !errors.As(err, &r) || r.Reason != reason {
		o.t.Errorf("%+v: %v, want reason %d", b, err, reason)
	}
}

const lab = "0197f3a2-7c1e-7aaa-8bbb-0123456789ab"

func (o *office) invite(login, role string) *Person {
	o.t.Helper()
	return o.do(owner, Invite{Login: login, Name: "Ann", Role: role, Token: []byte("invitation of " + login)})
}

// A loss of rights starts a new generation. No other change does.
func TestLossOfRightsStartsANewGeneration(t *testing.T) {
	yes, no, name, role := true, false, "Another", Facilitator
	labs := []string{lab}
	for what, tc := range map[string]struct {
		b    func(p *Person) Body
		ends bool
	}{
		"changing the name":     {func(p *Person) Body { return Update{ID: p.Id, Name: &name} }, false},
		"changing nothing":      {func(p *Person) Body { return Update{ID: p.Id, Disabled: &no} }, false},
		"changing the role":     {func(p *Person) Body { return Update{ID: p.Id, Role: &role} }, true},
		"changing the codelabs": {func(p *Person) Body { return Update{ID: p.Id, Codelabs: &labs} }, true},
		"disabling":             {func(p *Person) Body { return Update{ID: p.Id, Disabled: &yes} }, true},
		"inviting again":        {func(p *Person) Body { return InviteAgain{ID: p.Id, Token: []byte("next")} }, true},
		"changing the password": {func(p *Person) Body { return SetPassword{ID: p.Id, Was: p.Password, Password: "next"} }, true},
		"deleting":              {func(p *Person) Body { return Delete{ID: p.Id} }, true},
		"noting a use":          {func(p *Person) Body { return NoteSeen{ID: p.Id} }, false},
	} {
		o := newOffice(t)
		p := o.invite("ann", Assistant)
		p = o.do(Caller{}, Accept{Token: p.Invitation, Password: "hash"})
		o.do(owner, tc.b(p))
		if stands := o.c.Capture().Stands(p.Id, p.Generation, o.now); stands == tc.ends {
			t.Errorf("after %s, the generation is still valid: %v", what, stands)
		}
	}
}

func TestAFacilitatorManagesOnlyAssistants(t *testing.T) {
	o := newOffice(t)
	boss, asa := o.invite("boss", Facilitator), o.invite("asa", Assistant)
	fay := Caller{ID: boss.Id}
	role := Facilitator
	for _, b := range []Body{Delete{ID: boss.Id}, InviteAgain{ID: boss.Id}, Update{ID: boss.Id}} {
		o.refused(fay, b, durable.Missing)
	}
	o.refused(fay, Invite{Login: "more", Name: "M", Role: Facilitator}, durable.Forbidden)
	o.refused(fay, Update{ID: asa.Id, Role: &role}, durable.Forbidden)
	o.do(fay, Invite{Login: "max", Name: "Max", Role: Assistant})
	o.do(fay, Delete{ID: asa.Id})
}

func TestInvitationsAreValidOnceAndForAWeek(t *testing.T) {
	o := newOffice(t)
	p := o.invite("ann", Assistant)
	o.refused(Caller{}, Accept{Token: []byte("another"), Password: "hash"}, durable.Missing)
	o.refused(Caller{}, Accept{Token: p.Invitation}, durable.Invalid)
	was := o.now
	o.now = o.now.Add(InvitationLife)
	o.refused(Caller{}, Accept{Token: p.Invitation, Password: "hash"}, durable.Missing)
	o.now = was.Add(InvitationLife - time.Second)
	if o.do(Caller{}, Accept{Token: p.Invitation, Password: "hash"}); State(o.c.find(p.Id), o.now) != Active {
		t.Error("a person who accepted is not active")
	}
	o.refused(Caller{}, Accept{Token: p.Invitation, Password: "hash"}, durable.Missing)
	// A new invitation voids the previous one and the password.
	o.do(owner, InviteAgain{ID: p.Id, Token: []byte("second")})
	o.do(owner, InviteAgain{ID: p.Id, Token: []byte("third")})
	o.refused(Caller{}, Accept{Token: []byte("second"), Password: "hash"}, durable.Missing)
	if p := o.c.find(p.Id); p.Password != "" || State(p, o.now) != Invited {
		t.Errorf("after a new invitation, the person is %v", p)
	}
	// A disabled person cannot accept an invitation.
	yes := true
	o.do(owner, Update{ID: p.Id, Disabled: &yes})
	o.refused(Caller{}, Accept{Token: []byte("third"), Password: "hash"}, durable.Missing)
}

func TestAHelperIsSignedInOnOnePhoneUntilTheirEnd(t *testing.T) {
	o := newOffice(t)
	token := []byte("of a helper")
	p := o.do(owner, Invite{Name: "Hal", Role: Assistant, Codelabs: []string{lab}, ExpiresAt: o.now.Add(time.Hour).UnixMilli(), Token: token})
	first := o.do(Caller{}, Accept{Token: token})
	if _, err := o.try(Caller{}, Accept{Token: token}); !errors.Is(err, ErrElsewhere) {
		t.Errorf("accepting on a second phone returned %v, want ErrElsewhere", err)
	}
	if first.MovedAt != 0 {
		t.Errorf("after the first phone MovedAt is %d, want 0", first.MovedAt)
	}
	o.now = o.now.Add(time.Minute)
	second := o.do(Caller{}, Accept{Token: token, Here: true})
	if second.MovedAt != o.now.UnixMilli() {
		t.Errorf("after the second phone, MovedAt is %d", second.MovedAt)
	}
	v := o.c.Capture()
	if v.Stands(p.Id, first.Generation, o.now) || !v.Stands(p.Id, second.Generation, o.now) {
		t.Error("the sessions of both phones are valid, or neither is")
	}
	end, ok := v.NextEnd(o.now)
	if !ok || !end.Equal(o.now.Add(time.Hour-time.Minute)) {
		t.Errorf("NextEnd returned %v", end)
	}
	if v.Stands(p.Id, second.Generation, end) {
		t.Error("at the end, the session is still valid")
	}
	// With several helpers, NextEnd returns the earliest end, in any order of invitation.
	o.do(owner, Invite{Name: "Ivo", Role: Assistant, Codelabs: []string{lab}, ExpiresAt: end.Add(-time.Minute).UnixMilli(), Token: []byte("sooner")})
	o.do(owner, Invite{Name: "Ida", Role: Assistant, Codelabs: []string{lab}, ExpiresAt: end.Add(time.Hour).UnixMilli(), Token: []byte("later")})
	if next, ok := o.c.Capture().NextEnd(o.now); !ok || !next.Equal(end.Add(-time.Minute)) {
		t.Errorf("with three helpers, NextEnd returned %v", next)
	}
	if next, ok := o.c.Capture().NextEnd(end); !ok || !next.Equal(end.Add(time.Hour)) {
		t.Errorf("after two of three ends, NextEnd returned %v", next)
	}
	o.now = end
	o.refused(Caller{}, Accept{Token: token, Here: true}, durable.Missing)
}

// Disabling a helper voids their link. After enabling them, a new link is valid for the rest of
// their time.
func TestAHelperIsInvitedAgainAfterTheyWereDisabled(t *testing.T) {
	o := newOffice(t)
	ends := o.now.Add(time.Hour)
	p := o.do(owner, Invite{Name: "Hal", Role: Assistant, Codelabs: []string{lab}, ExpiresAt: ends.UnixMilli(), Token: []byte("first")})
	for _, disabled := range []bool{true, false} {
		o.do(owner, Update{ID: p.Id, Disabled: &disabled})
	}
	if again := o.do(owner, InviteAgain{ID: p.Id, Token: []byte("second")}); again.InvitationEndsAt != ends.UnixMilli() {
		t.Errorf("the second link ends at %d, want %d", again.InvitationEndsAt, ends.UnixMilli())
	}
	o.do(Caller{}, Accept{Token: []byte("second")})
}

// Of two concurrent password changes, only one succeeds.
func TestAPasswordChangeNeedsThePreviousPassword(t *testing.T) {
	o := newOffice(t)
	p := o.invite("ann", Facilitator)
	o.do(Caller{}, Accept{Token: p.Invitation, Password: "one"})
	o.do(Caller{}, SetPassword{ID: p.Id, Was: "one", Password: "two"})
	o.refused(Caller{}, SetPassword{ID: p.Id, Was: "one", Password: "three"}, durable.Conflict)
	o.refused(Caller{}, SetPassword{ID: "nobody", Password: "three"}, durable.Missing)
}

// The log contains the current state of each person, and nothing of deleted people. Reading it
// again yields the same state.
func TestTheLogContainsOnlyCurrentData(t *testing.T) {
	o := newOffice(t)
	ann, max := o.invite("ann@example.org", Assistant), o.invite("max@example.org", Assistant)
	o.do(Caller{}, Accept{Token: ann.Invitation, Password: "$hash-of-ann"})
	o.do(Caller{}, Accept{Token: max.Invitation, Password: "$hash-of-max"})
	o.do(Caller{}, NoteSeen{ID: ann.Id})
	o.do(Caller{}, SetPassword{ID: ann.Id, Was: "$hash-of-ann", Password: "$next-of-ann"})
	o.do(owner, Delete{ID: max.Id})
	var all []byte
	for _, e := range o.log {
		all = append(all, pbwire.Encode(e)...)
	}
	for _, gone := range []string{"max@example.org", "$hash-of-max", "$hash-of-ann", "invitation of"} {
		if strings.Contains(string(all), gone) {
			t.Errorf("the log still contains %q", gone)
		}
	}
	o.replays()
}

// Invitations and changes beyond each bound are refused.
func TestInvitationsAndChangesAreBounded(t *testing.T) {
	o := newOffice(t)
	token := []byte("t")
	labs := make([]string, MaxCodelabs+1)
	for i := range labs {
		labs[i] = o.c.ids.Next(o.now)
	}
	helper := func(in time.Duration) Invite {
		return Invite{Name: "Hal", Role: Assistant, Codelabs: []string{lab}, ExpiresAt: o.now.Add(in).UnixMilli(), Token: token}
	}
	withLogin, facilitates, of2 := helper(time.Hour), helper(time.Hour), helper(time.Hour)
	withLogin.Login, facilitates.Role, facilitates.Codelabs, of2.Codelabs = "hal", Facilitator, nil, labs[:2]
	for name, in := range map[string]Invite{
		"the owner's login": {Login: "ADMIN", Name: "A", Role: Assistant}, "a Kelvin sign": {Login: "\u212aim", Name: "A", Role: Assistant},
		"a long login": {Login: strings.Repeat("a", 81), Name: "A", Role: Assistant}, "a short login": {Login: "ab", Name: "A", Role: Assistant},
		"too many codelabs": {Login: "ann", Name: "A", Role: Assistant, Codelabs: labs}, "a facilitator of some": {Login: "ann", Name: "A", Role: Facilitator, Codelabs: labs[:1]},
		"a helper with a login": withLogin, "a helper who facilitates": facilitates, "a helper of two": of2,
		"too short an access": helper(MinHelperLife - time.Second), "too long an access": helper(MaxHelperLife + time.Second),
	} {
		if p, err := o.try(owner, in); err == nil {
			t.Errorf("%s was accepted: %v", name, p)
		}
	}
	for _, in := range []Invite{
		{Login: strings.Repeat("a", 80), Name: "A", Role: Assistant, Codelabs: labs[:MaxCodelabs]}, helper(MinHelperLife), helper(MaxHelperLife),
	} {
		o.do(owner, in)
	}
	hal := o.do(owner, helper(time.Hour))
	o.refused(owner, Update{ID: hal.Id, Codelabs: &[]string{}}, durable.Invalid)
	o.refused(owner, Update{ID: hal.Id, Codelabs: new(labs[:2])}, durable.Invalid)
	o.refused(owner, Update{ID: hal.Id, Role: new(Facilitator)}, durable.Invalid)
	o.refused(owner, Update{ID: hal.Id, Link: new(true)}, durable.Invalid)
}

// A change is stored as it was sent, leaves all else unchanged, and is in the audit trail.
func TestAChangeKeepsAllElse(t *testing.T) {
	o := newOffice(t)
	labs, none, other := []string{lab}, []string{}, "0197f3a2-7c1e-7aaa-8bbb-0123456789ac"
	p := o.invite("ann", Assistant)
	at := o.now.UnixMilli()
	want := &Person{
		Id: p.Id, Login: "ann", Name: "Ann", Role: Assistant, Invitation: []byte("invitation of ann"),
		InvitationEndsAt: o.now.Add(InvitationLife).UnixMilli(), CreatedAt: at, Generation: 1,
	}
	for i, tc := range []struct {
		who    Caller
		b      Body
		change func()
		audit  string
	}{
		{owner, Update{ID: p.Id, Codelabs: &labs}, func() { want.Codelabs, want.Generation = labs, 2 }, "people_update map[codelabs:1 role:assistant]"},
		{owner, Update{ID: p.Id, Codelabs: &[]string{lab, other, lab}}, func() { want.Codelabs, want.Generation = []string{lab, other}, 3 }, "people_update map[codelabs:2 role:assistant]"},
		{owner, Update{ID: p.Id, Name: new("Anna")}, func() { want.Name = "Anna" }, "people_update map[codelabs:2 role:assistant]"},
		{owner, Update{ID: p.Id, Name: new("Anna")}, func() {}, ""},
		// Facilitators can access all codelabs and have no list of codelabs.
		{owner, Update{ID: p.Id, Role: new(Facilitator)}, func() { want.Role, want.Codelabs, want.Generation = Facilitator, nil, 4 }, "people_update map[codelabs:0 role:facilitator]"},
		{owner, Update{ID: p.Id, Role: new(Assistant), Codelabs: &labs}, func() { want.Role, want.Codelabs, want.Generation = Assistant, labs, 5 }, "people_update map[codelabs:1 role:assistant]"},
		{owner, Update{ID: p.Id, Link: new(true)}, func() { want.Link = true }, "people_update map[codelabs:1 link:true role:assistant]"},
		{Caller{Type: "admin"}, Accept{Token: []byte("invitation of ann"), Password: "hash"}, func() {
			want.Accepted, want.Password, want.Invitation, want.InvitationEndsAt, want.Link, want.Generation = true, "hash", nil, 0, false, 6
		}, "people_accept map[role:assistant]"},
		{Caller{Type: "admin", ID: p.Id}, SetPassword{ID: p.Id, Was: "hash", Password: "next"}, func() { want.Password, want.Generation = "next", 7 }, "people_password map[]"},
		{owner, Update{ID: p.Id, Disabled: new(true)}, func() { want.Disabled, want.Generation = true, 8 }, "people_disable map[codelabs:1 role:assistant]"},
		{owner, Update{ID: p.Id, Disabled: new(false), Codelabs: &none}, func() { want.Disabled, want.Codelabs, want.Generation = false, nil, 9 }, "people_update map[codelabs:0 role:assistant]"},
		{owner, InviteAgain{ID: p.Id, Token: []byte("again")}, func() {
			want.Invitation, want.InvitationEndsAt = []byte("again"), o.now.Add(InvitationLife).UnixMilli()
			want.Accepted, want.Password, want.Generation = false, "", 10
		}, "people_invite map[again:true role:assistant]"},
		{owner, Delete{ID: p.Id}, func() { want = nil }, "people_delete map[role:assistant]"},
	} {
		o.now = o.now.Add(time.Minute)
		d, err := o.actor.Decide(Command{Caller: tc.who, Body: tc.b}, durable.Env{Now: o.now})
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		o.do(tc.who, tc.b)
		tc.change()
		if got := o.c.find(p.Id); string(pbwire.Encode(got)) != string(pbwire.Encode(want)) {
			t.Errorf("%d: after %+v, the person is\n%v, want\n%v", i, tc.b, got, want)
		}
		if _, deleted := tc.b.(Delete); !deleted && d.Reply != any(o.c.find(p.Id)) && string(pbwire.Encode(d.Reply.(*Person))) != string(pbwire.Encode(want)) {
			t.Errorf("%d: the reply is %v", i, d.Reply)
		}
		if err := durable.Commit(o.journal, d.Rows); err != nil {
			t.Fatal(err)
		}
		found, err := o.trail.Find(audit.Query{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range found {
			if r.CreatedAt != o.now.UnixMilli() {
				continue
			}
			got += fmt.Sprint(r.Action, " ", r.Metadata)
			if actor := tc.who.ID; r.TargetId != p.Id || r.ActorType != "admin" || r.ActorId != actor && r.Action != "people_accept" {
				t.Errorf("%d: audit record %v", i, r)
			}
		}
		if got != tc.audit {
			t.Errorf("%d: audit record %q, want %q", i, got, tc.audit)
		}
	}
}

// After a new invitation, the next phone counts as the first one.
func TestANewInvitationForgetsThePhones(t *testing.T) {
	o := newOffice(t)
	p := o.do(owner, Invite{Name: "Hal", Role: Assistant, Codelabs: []string{lab}, ExpiresAt: o.now.Add(time.Hour).UnixMilli(), Token: []byte("one")})
	o.do(Caller{}, Accept{Token: []byte("one")})
	if moved := o.do(Caller{}, Accept{Token: []byte("one"), Here: true}); moved.MovedAt == 0 {
		t.Fatal("MovedAt is 0 after the second phone")
	}
	o.do(owner, InviteAgain{ID: p.Id, Token: []byte("two")})
	if got := o.do(Caller{}, Accept{Token: []byte("two")}); got.MovedAt != 0 {
		t.Errorf("after a new invitation MovedAt is %d, want 0", got.MovedAt)
	}
}

// The name of a person has at most 80 characters, and there are at most 2,000 people.
func TestPeopleAndTheirNamesAreBounded(t *testing.T) {
	o := newOffice(t)
	for _, n := range []int{80, 81} {
		_, err := o.try(owner, Invite{Login: "ann", Name: strings.Repeat("ä", n), Role: Assistant, Token: []byte("t")})
		if (err == nil) != (n == 80) {
			t.Errorf("a name of %d characters: %v", n, err)
		}
	}
	for i := len(o.c.all); i < MaxPeople-1; i++ {
		o.c.all = append(o.c.all, &Person{Id: fmt.Sprint(i), Role: Assistant})
	}
	o.invite("last", Assistant)
	o.refused(owner, Invite{Login: "more", Name: "More", Role: Assistant, Token: []byte("more")}, durable.Conflict)
}

// If an assistant is moved to another codelab, they lose rights, so their sessions end.
func TestMovingAnAssistantEndsTheirSessions(t *testing.T) {
	o := newOffice(t)
	p := o.do(owner, Invite{Login: "ann", Name: "Ann", Role: Assistant, Codelabs: []string{lab}, Token: []byte("t")})
	next := o.do(owner, Update{ID: p.Id, Codelabs: &[]string{lab[:len(lab)-1] + "c"}})
	if next.Generation == p.Generation {
		t.Error("the generation did not change")
	}
}

// An invitation that was open when its person was disabled stays void after the person is enabled
// again.
func TestADisabledPersonsInvitationStaysVoid(t *testing.T) {
	o := newOffice(t)
	p := o.invite("ann", Assistant)
	for _, disabled := range []bool{true, false} {
		o.do(owner, Update{ID: p.Id, Disabled: &disabled})
	}
	o.refused(Caller{}, Accept{Token: p.Invitation, Password: "hash"}, durable.Missing)
}
