package auth

import (
	"testing"
	"time"
)

// personal returns a personal secret, and fails without one.
func (g *gate) personal(who Identity, p Purpose, leading bool) string {
	g.t.Helper()
	secret, expires, ok, err := g.Personal(&who, p, label, leading)
	if !ok || err != nil || !expires.After(g.clock) {
		g.t.Fatal("there is no secret:", ok, err, expires)
	}
	return secret
}

// good reports whether a secret is currently valid for a purpose.
func (g *gate) good(p Purpose, secret string) bool {
	g.t.Helper()
	id, lab, ok, err := g.IdentifyPersonal(p, secret)
	if err != nil || ok && (lab != label || id.Key() == "") {
		g.t.Fatalf("IdentifyPersonal returned the codelab %q, the person %q, %v", lab, id.Key(), err)
	}
	return ok
}

func TestAPersonalSecretEndsWithItsGrant(t *testing.T) {
	for name, c := range map[string]struct {
		who     func(*gate) Identity
		leading bool
		end     func(*gate, *Identity)
	}{
		"an attendee logs out":        {(*gate).attendee, false, func(g *gate, i *Identity) { _ = g.Authenticator.End(i) }},
		"an attendee leaves":          {(*gate).attendee, false, func(g *gate, i *Identity) { _ = g.Leave(i, label) }},
		"an attendee's grant expires": {(*gate).attendee, false, func(g *gate, _ *Identity) { g.clock = g.clock.Add(12 * time.Hour) }},
		"an attendee is removed":      {(*gate).attendee, false, func(g *gate, _ *Identity) { g.Sessions.Forget("lin") }},
		"another registers in that browser": {(*gate).attendee, false, func(g *gate, i *Identity) {
			next, err := g.GrantAttendee(*i, label, "max", "Max", 0)
			if err != nil {
				g.t.Fatal(err)
			}
			g.identify(next.Cookie, "")
			g.clock = g.clock.Add(time.Hour) // the earlier id is no longer valid
		}},
		"an admin logs out":        {(*gate).admin, true, func(g *gate, i *Identity) { _ = g.Authenticator.End(i) }},
		"an admin's grant expires": {(*gate).admin, true, func(g *gate, _ *Identity) { g.clock = g.clock.Add(8 * time.Hour) }},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t)
			who := c.who(g)
			secret := g.personal(who, Git, c.leading)
			if !g.good(Git, secret) || g.good(Check, secret) || g.good(Git, secret[:len(secret)-2]) || g.good(Git, secret[len(PersonalPrefix):]) {
				t.Error("the secret is not valid for exactly its purpose")
			}
			c.end(g, &who)
			if g.good(Git, secret) {
				t.Error("the secret is valid after the end of its grant")
			}
		})
	}
}

// The browser's session id changes when its user registers in another codelab. The secret stays
// valid.
func TestAPersonalSecretSurvivesTheNextSessionID(t *testing.T) {
	g := newGate(t)
	who := g.attendee()
	secret := g.personal(who, Check, false)
	i, err := g.GrantAttendee(who, "another", "max", "Max", 0)
	if err != nil {
		t.Fatal(err)
	}
	g.identify(i.Cookie, "")
	g.clock = g.clock.Add(time.Hour) // the first id is no longer valid
	if !g.good(Check, secret) {
		t.Error("the secret ended with the session id")
	}
}

// A facilitator who is also registered gets an attendee's secret, without a facilitator's rights.
func TestAnAttendeesSecretHasNoFacilitatorRights(t *testing.T) {
	g := newGate(t)
	i, err := g.GrantAttendee(g.admin(), label, "lin", "Lin", 0)
	if err != nil {
		t.Fatal(err)
	}
	both := g.identify(i.Cookie, "")
	id, _, ok, err := g.IdentifyPersonal(Git, g.personal(both, Git, false))
	if !ok || err != nil || id.Admin() || id.Leads(label) || id.Grant(label) == nil || id.Grant(label).AttendeeID != "lin" {
		t.Error("the secret has facilitator rights, or no attendee:", ok, err)
	}
	if id, _, ok, _ = g.IdentifyPersonal(Git, g.personal(both, Git, true)); !ok || !id.Admin() {
		t.Error("the facilitator's secret has no facilitator rights")
	}
	robot := g.robot()
	if _, _, ok, _ := g.Personal(&robot, Git, label, true); ok {
		t.Error("an API token gets a personal secret")
	}
	attendee, admin := g.attendee(), g.admin()
	for name, tc := range map[string]struct {
		who     Identity
		lab     string
		leading bool
	}{"an attendee who leads": {attendee, label, true}, "an attendee elsewhere": {attendee, "other", false}, "a facilitator who attends": {admin, label, false}} {
		if _, _, ok, _ := g.Personal(&tc.who, Git, tc.lab, tc.leading); ok {
			t.Errorf("%s gets a secret", name)
		}
	}
}
