package auth

import (
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"atelier/actors/durable"
	"atelier/actors/people"
	"atelier/actors/settings"
)

// know replaces the people that the server has.
func (g *gate) know(all ...*people.Person) {
	g.t.Helper()
	state, err := proto.Marshal(&people.Snapshot{People: all})
	core := people.Kind(nil, "admin").New("all")
	if err = errors.Join(err, core.Restore(1, state)); err != nil {
		g.t.Fatal(err)
	}
	g.people = core.Capture()
}

// login logs in a person. from is the identity that the browser already has.
func (g *gate) login(from Identity, p *people.Person) Issued {
	g.t.Helper()
	i, err := g.GrantAdmin(from, Login{Person: p})
	if err != nil {
		g.t.Fatal(err)
	}
	return i
}

// staff returns a facilitator, an assistant of the codelab, and a helper, who is an assistant for
// one hour.
func (g *gate) staff() (ada, bob, eve *people.Person) {
	ada = &people.Person{Id: "ada", Name: "Ada", Login: "ada", Role: people.Facilitator, Generation: 2}
	bob = &people.Person{Id: "bob", Name: "Bob", Login: "bob", Role: people.Assistant, Codelabs: []string{label}}
	eve = &people.Person{Id: "eve", Name: "Eve", Role: people.Assistant, Codelabs: []string{label}, ExpiresAt: g.clock.Add(time.Hour).UnixMilli()}
	g.know(ada, bob, eve)
	return ada, bob, eve
}

// A person's rights depend on the role, and end with the record. The other grants of the browser
// stay.
func TestPeopleActWhileTheirRecordIsValid(t *testing.T) {
	for name, change := range map[string]func(*gate, *people.Person){
		"nothing changes": nil,
		"removed":         func(g *gate, _ *people.Person) { g.know() },
		"disabled":        func(g *gate, p *people.Person) { p = proto.CloneOf(p); p.Disabled = true; g.know(p) },
		"another password": func(g *gate, p *people.Person) {
			p = proto.CloneOf(p)
			p.Generation++
			g.know(p)
		},
	} {
		g := newGate(t)
		ada, bob, eve := g.staff()
		for _, tc := range []struct {
			p     *people.Person
			rank  Rank
			other bool // the person leads another codelab
		}{{ada, Facilitator, true}, {bob, Assistant, false}, {eve, Assistant, false}} {
			alone, attendee := g.login(Identity{}, tc.p), g.attendee()
			both := g.login(attendee, tc.p)
			if change != nil {
				change(g, tc.p)
			}
			for kind, cookie := range map[string]string{"alone": alone.Cookie, "also an attendee": both.Cookie} {
				who := g.identify(cookie, "")
				stands := change == nil
				if got := who.Rank(); stands && got != tc.rank || !stands && got != NoRank || who.Leads(label) != stands || who.Leads("other") != (stands && tc.other) {
					t.Errorf("%s, %s, %s: the rank is %v", name, tc.p.Id, kind, got)
				}
				if known := who.Known(); known != (stands || kind != "alone") {
					t.Errorf("%s, %s, %s: known is %v", name, tc.p.Id, kind, known)
				}
				if known, err := g.Knows(&who, true); stands && (!known || err != nil) {
					t.Errorf("%s, %s, %s: Knows returned %v, %v", name, tc.p.Id, kind, known, err)
				}
			}
			g.know(ada, bob, eve)
		}
	}
}

// When a person is removed, their requests in progress are refused, and their connections are
// closed.
func TestARemovedPersonLosesTheirRightsAtOnce(t *testing.T) {
	g := newGate(t)
	ada, _, _ := g.staff()
	who := g.identify(g.login(Identity{}, ada).Cookie, "")
	l := &life{standing: who.Standing(label, true, nil)}
	if ended := g.Hold(l); ended != "" {
		t.Fatalf("Hold returned %q", ended)
	}
	g.know()
	if known, err := g.Knows(&who, true); known || err != nil {
		t.Errorf("a removed person is still known, or: %v", err)
	}
	if g.Sweep(); len(l.ended) != 1 {
		t.Errorf("the connection was ended %v, want once", l.ended)
	}
}

// A helper's cookie expires at the end of the helper's time, to the second.
func TestAHelpersSessionEndsWithTheirTime(t *testing.T) {
	g := newGate(t)
	_, bob, eve := g.staff()
	for p, want := range map[*people.Person]time.Duration{bob: 8 * time.Hour, eve: time.Hour} {
		if got := g.login(Identity{}, p).Expires.Sub(g.clock).Round(time.Second); got != want {
			t.Errorf("the session of %s ends in %v", p.Id, got)
		}
	}
}

// If a person ends a login, its connections end immediately.
func TestAnEndedLoginEndsItsConnections(t *testing.T) {
	g := newGate(t)
	ada, bob, _ := g.staff()
	lives := map[string]*life{}
	var here Identity
	for name, p := range map[string]*people.Person{"here": ada, "elsewhere": ada, "another's": bob} {
		who := g.identify(g.login(Identity{}, p).Cookie, "")
		if name == "here" {
			here = who
		}
		lives[name] = &life{standing: who.Standing(label, true, nil)}
		if ended := g.Hold(lives[name]); ended != "" {
			t.Fatalf("Hold returned %q", ended)
		}
	}
	for _, login := range g.Sessions.Logins("ada") {
		if login.Login == here.LoginID() {
			continue
		}
		if ended, err := g.EndLogin(&here, login.Login); !ended || err != nil {
			t.Fatalf("EndLogin returned %v, %v, want true", ended, err)
		}
	}
	if len(lives["here"].ended) != 0 || len(lives["elsewhere"].ended) != 1 || len(lives["another's"].ended) != 0 {
		t.Errorf("ended: here %v, elsewhere %v, another's %v", lives["here"].ended, lives["elsewhere"].ended, lives["another's"].ended)
	}
}

// The name of a logged-in person is reserved in the codelabs that this person leads. While the list
// of people is unavailable, the name is reserved in all codelabs.
func TestNamesOfFacilitatorsAreReservedInTheirCodelabs(t *testing.T) {
	g := newGate(t)
	ada, bob, eve := g.staff()
	g.admin() // Grace
	reserved := func(codelab string) (out []string) {
		for _, name := range []string{"Grace", "Ada", "Bob", "Eve", "Rob"} {
			if g.Reserved(codelab, name) {
				out = append(out, name)
			}
		}
		return out
	}
	g.login(Identity{}, ada)
	g.login(Identity{}, bob)
	want := func(when, codelab string, want ...string) {
		t.Helper()
		if got := reserved(codelab); !slices.Equal(got, want) {
			t.Errorf("%s, in %s: the reserved names are %q, want %q", when, codelab, got, want)
		}
	}
	want("at first", label, "Grace", "Ada", "Bob")
	want("at first", "other", "Grace", "Ada")
	g.unknown = durable.ErrUnavailable
	want("while people are unknown", "other", "Grace", "Ada", "Bob")
	g.unknown = nil
	renamed := proto.CloneOf(bob)
	renamed.Name = "Rob"
	g.know(ada, renamed, eve)
	want("after a renaming", label, "Grace", "Ada", "Rob")
	g.know(renamed)
	want("after a removal", label, "Grace", "Rob")
}

// Failed attempts with a person's own login name count for that person. Attempts with another login
// name count for the address and that name, as if nobody were logged in.
func TestFailedLoginsOfAPersonCountForTheirOwnLogin(t *testing.T) {
	g := newGate(t)
	ada, _, _ := g.staff()
	who := g.identify(g.login(Identity{}, ada).Cookie, "")
	var nobody Identity
	own, others := g.Failures.Attempt(&who, "", "192.0.2.1", "ADA"), g.Failures.Attempt(&who, "", "192.0.2.1", "bob")
	if own == g.Failures.Attempt(&nobody, "", "192.0.2.1", "ADA") || own != g.Failures.Attempt(&who, "", "192.0.2.2", "ada") {
		t.Error("a failure of one's own login counts for the address")
	}
	if others != g.Failures.Attempt(&nobody, "", "192.0.2.1", "bob") {
		t.Error("a failure of another login does not count for the address")
	}
}

// A page in a frame has the rights of an attendee, but not the rights of the owner, a facilitator
// or an assistant.
func TestFacilitatorsHaveNoRightsInAFrame(t *testing.T) {
	g := newGate(t)
	ada, _, _ := g.staff()
	attendee, owner, person := g.attendee(), g.admin(), g.identify(g.login(g.attendee(), ada).Cookie, "")
	for name, who := range map[string]Identity{"the owner": owner.Framed(), "a facilitator": person.Framed()} {
		if who.Known() || who.Rank() != NoRank || who.Grant(label) != nil {
			t.Errorf("%s has rights in a frame", name)
		}
	}
	if who := attendee.Framed(); who.Grant(label) == nil {
		t.Error("an attendee has no rights in a frame")
	}
}

// A request with side effects sends the token of its session twice: in the header, which another
// site cannot set, and in the cookie.
func TestTheCSRFTokenMustBeInHeaderAndCookie(t *testing.T) {
	g := newGate(t)
	who, other := g.admin(), g.admin()
	right, wrong := who.CSRF(), other.CSRF()
	for _, tc := range []struct {
		header, cookie string
		want           bool
	}{{right, right, true}, {right, "", false}, {"", right, false}, {right, wrong, false}, {wrong, right, false}, {wrong, wrong, false}, {"", "", false}} {
		if who.ShowsCSRF([]byte(tc.header), []byte(tc.cookie)) != tc.want {
			t.Errorf("%.3q in the header and %.3q in the cookie: ShowsCSRF is wrong", tc.header, tc.cookie)
		}
	}
	if (&Identity{}).ShowsCSRF(nil, nil) {
		t.Error("a caller without a session shows a token")
	}
}

// API tokens act as facilitators until they expire. The name of the scheme is case-insensitive.
func TestAnAPITokenActsUntilItExpires(t *testing.T) {
	g := newGate(t)
	g.robot()
	token := g.tokens.Tokens[0]
	g.tokens = &settings.View{Tokens: []*settings.ApiToken{{Id: token.Id, SecretHash: token.SecretHash, ExpiresAt: g.clock.Add(time.Hour).UnixMilli()}}}
	for _, header := range []string{"Bearer atl_token", "bearer atl_token", "BEARER  atl_token"} {
		if who := g.identify("", header); who.Rank() != Facilitator || who.Person() != "token:robot" {
			t.Errorf("with %q, the rank is %v", header, who.Rank())
		}
	}
	for _, header := range []string{"Bearer atl_other", "Bearer"} {
		if who, bad, err := g.Identify(nil, header); !bad || err != nil || who.Known() {
			t.Errorf("%q is accepted: %v", header, err)
		}
	}
	g.clock = g.clock.Add(time.Hour)
	if who, bad, err := g.Identify(nil, "Bearer atl_token"); !bad || err != nil || who.Known() {
		t.Errorf("an expired token is accepted: %v", err)
	}
}

// Leaving a codelab ends only the connections that depend on the attendee's grant in that codelab.
func TestLeavingEndsOnlyConnectionsOfThatGrant(t *testing.T) {
	g := newGate(t)
	i, err := g.GrantAttendee(g.attendee(), "other", "max", "Max", 0)
	if err != nil {
		t.Fatal(err)
	}
	who := g.identify(g.login(g.identify(i.Cookie, ""), nil).Cookie, "")
	here, there, leading := &life{standing: who.Standing(label, false, nil)}, &life{standing: who.Standing("other", false, nil)}, &life{standing: who.Standing(label, true, nil)}
	for _, l := range []*life{here, there, leading} {
		if ended := g.Hold(l); ended != "" {
			t.Fatalf("Hold returned %q", ended)
		}
	}
	if err := g.Leave(&who, label); err != nil || len(here.ended) != 1 || len(there.ended) != 0 || len(leading.ended) != 0 {
		t.Errorf("ended: here %v, there %v, leading %v; %v", here.ended, there.ended, leading.ended, err)
	}
}

// The cookie that marks a browser as an attendee's contains the generation of the attendee's grant.
// A reset of the attendee's PIN starts a new generation, so the old cookie no longer fits.
func TestAnAttendeesMarkBelongsToOneGeneration(t *testing.T) {
	g := newGate(t)
	mark, _, err := g.Signer.Attendee("lin", 7)
	if err != nil {
		t.Fatal(err)
	}
	if id, generation := g.Signer.WasAttendee(mark); id != "lin" || generation != 7 {
		t.Errorf("the mark belongs to %q, generation %d", id, generation)
	}
	other, _, err := g.Signer.Device("lin.7")
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range []string{"", other, mark + "x"} {
		if id, _ := g.Signer.WasAttendee(cookie); id != "" {
			t.Errorf("the cookie %.8q is a mark of %q", cookie, id)
		}
	}
}
