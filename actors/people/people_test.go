package people

import (
	"errors"
	"strings"
	"testing"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	pb "atelier/actors/people/peoplepb"
	"atelier/persistence/memory"
)

// office is a core with its log.
type office struct {
	t   *testing.T
	c   *core
	now time.Time
	log []*pb.Event
}

func newOffice(t *testing.T) *office {
	t.Helper()
	journal := memory.New()
	t.Cleanup(func() { _ = journal.Close() })
	return &office{t: t, now: time.Unix(1_800_000_000, 0), c: newCore(audit.New(journal, clock.System, time.Hour), "admin")}
}

var owner = Caller{ActorID: "admin", Owner: true}

// try decides and applies, and erases as the host does.
func (o *office) try(who Caller, b Body) (*pb.Person, error) {
	o.t.Helper()
	d, err := o.c.Decide(Command{Caller: who, Body: b}, durable.Env{Now: o.now})
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
	p, _ := d.Reply.(*pb.Person)
	return p, nil
}

func (o *office) do(who Caller, b Body) *pb.Person {
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

func (o *office) invite(login, role string) *pb.Person {
	o.t.Helper()
	return o.do(owner, Invite{Login: login, Name: "Ann", Role: role, Token: []byte("invitation of " + login)})
}

// What ends rights moves the generation on, and nothing else does.
func TestLossOfRightsStartsANewGeneration(t *testing.T) {
	yes, no, name, role := true, false, "Another", Facilitator
	labs := []string{lab}
	for what, tc := range map[string]struct {
		b    func(p *pb.Person) Body
		ends bool
	}{
		"a name":           {func(p *pb.Person) Body { return Update{ID: p.Id, Name: &name} }, false},
		"nothing":          {func(p *pb.Person) Body { return Update{ID: p.Id, Disabled: &no} }, false},
		"a role":           {func(p *pb.Person) Body { return Update{ID: p.Id, Role: &role} }, true},
		"codelabs":         {func(p *pb.Person) Body { return Update{ID: p.Id, Codelabs: &labs} }, true},
		"disabling":        {func(p *pb.Person) Body { return Update{ID: p.Id, Disabled: &yes} }, true},
		"an invitation":    {func(p *pb.Person) Body { return InviteAgain{ID: p.Id, Token: []byte("next")} }, true},
		"a password":       {func(p *pb.Person) Body { return SetPassword{ID: p.Id, Was: p.Password, Password: "next"} }, true},
		"deleting":         {func(p *pb.Person) Body { return Delete{ID: p.Id} }, true},
		"having been here": {func(p *pb.Person) Body { return NoteSeen{ID: p.Id} }, false},
	} {
		o := newOffice(t)
		p := o.invite("ann", Assistant)
		p = o.do(Caller{}, Accept{Token: p.Invitation, Password: "hash"})
		o.do(owner, tc.b(p))
		if stands := o.c.Capture().Stands(p.Id, p.Generation, o.now); stands == tc.ends {
			t.Errorf("after %s what was given stands: %v", what, stands)
		}
	}
}

func TestAFacilitatorKnowsOfAssistantsAlone(t *testing.T) {
	o := newOffice(t)
	boss, asa := o.invite("boss", Facilitator), o.invite("asa", Assistant)
	fay := Caller{ActorID: boss.Id}
	role := Facilitator
	for _, b := range []Body{Delete{ID: boss.Id}, InviteAgain{ID: boss.Id}, Update{ID: boss.Id}} {
		o.refused(fay, b, durable.Missing)
	}
	o.refused(fay, Invite{Login: "more", Name: "M", Role: Facilitator}, durable.Forbidden)
	o.refused(fay, Update{ID: asa.Id, Role: &role}, durable.Forbidden)
	o.do(fay, Invite{Login: "max", Name: "Max", Role: Assistant})
	o.do(fay, Delete{ID: asa.Id})
}

func TestInvitationsAreGoodOnceAndForAWeek(t *testing.T) {
	o := newOffice(t)
	p := o.invite("ann", Assistant)
	o.refused(Caller{}, Accept{Token: []byte("another"), Password: "hash"}, durable.Missing)
	o.refused(Caller{}, Accept{Token: p.Invitation}, durable.Invalid)
	was := o.now
	o.now = o.now.Add(InvitationLife)
	o.refused(Caller{}, Accept{Token: p.Invitation, Password: "hash"}, durable.Missing)
	o.now = was.Add(InvitationLife - time.Second)
	if o.do(Caller{}, Accept{Token: p.Invitation, Password: "hash"}); State(o.c.find(p.Id), o.now) != Active {
		t.Error("who has accepted is not active")
	}
	o.refused(Caller{}, Accept{Token: p.Invitation, Password: "hash"}, durable.Missing)
	// A new invitation voids the previous one, and the password.
	o.do(owner, InviteAgain{ID: p.Id, Token: []byte("second")})
	o.do(owner, InviteAgain{ID: p.Id, Token: []byte("third")})
	o.refused(Caller{}, Accept{Token: []byte("second"), Password: "hash"}, durable.Missing)
	if p := o.c.find(p.Id); p.Password != "" || State(p, o.now) != Invited {
		t.Errorf("after an invitation it is %v", p)
	}
	// A disabled person cannot accept an invitation.
	yes := true
	o.do(owner, Update{ID: p.Id, Disabled: &yes})
	o.refused(Caller{}, Accept{Token: []byte("third"), Password: "hash"}, durable.Missing)
}

func TestAHelperIsInOneBrowserAtATimeAndForADay(t *testing.T) {
	o := newOffice(t)
	token := []byte("of a helper")
	p := o.do(owner, Invite{Name: "Hal", Role: Assistant, Codelabs: []string{lab}, ExpiresAt: o.now.Add(time.Hour).UnixMilli(), Token: token})
	first := o.do(Caller{}, Accept{Token: token})
	if _, err := o.try(Caller{}, Accept{Token: token}); !errors.Is(err, ErrElsewhere) {
		t.Errorf("a second phone: %v", err)
	}
	if first.MovedAt != 0 {
		t.Errorf("the first phone is another one, of %d", first.MovedAt)
	}
	o.now = o.now.Add(time.Minute)
	second := o.do(Caller{}, Accept{Token: token, Here: true})
	if second.MovedAt != o.now.UnixMilli() {
		t.Errorf("those who lead are told of another phone of %d", second.MovedAt)
	}
	v := o.c.Capture()
	if v.Stands(p.Id, first.Generation, o.now) || !v.Stands(p.Id, second.Generation, o.now) {
		t.Error("both phones are in, or none")
	}
	end, ok := v.NextEnd(o.now)
	if !ok || !end.Equal(o.now.Add(time.Hour-time.Minute)) {
		t.Errorf("the next end is %v", end)
	}
	if v.Stands(p.Id, second.Generation, end) {
		t.Error("at the end they are still in")
	}
	o.now = end
	o.refused(Caller{}, Accept{Token: token, Here: true}, durable.Missing)
}

// Disabling ends the link of a helper. Once they are enabled again, another one is good for the
// rest of their time.
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

// Of two changes of a password at once one wins.
func TestPasswordChangeNeedsThePreviousOne(t *testing.T) {
	o := newOffice(t)
	p := o.invite("ann", Facilitator)
	o.do(Caller{}, Accept{Token: p.Invitation, Password: "one"})
	o.do(Caller{}, SetPassword{ID: p.Id, Was: "one", Password: "two"})
	o.refused(Caller{}, SetPassword{ID: p.Id, Was: "one", Password: "three"}, durable.Conflict)
	o.refused(Caller{}, SetPassword{ID: "nobody", Password: "three"}, durable.Missing)
}

// The log has the present state of each person, and nothing of deleted ones. Reading it
// again gives the same state.
func TestTheLogForgets(t *testing.T) {
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
			t.Errorf("the log still has %q", gone)
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
		"too short": helper(MinHelperLife - time.Second), "too long": helper(MaxHelperLife + time.Second),
	} {
		if p, err := o.try(owner, in); err == nil {
			t.Errorf("%s: %v", name, p)
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
