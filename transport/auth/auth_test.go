package auth

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/login"
	"atelier/actors/people"
	"atelier/actors/settings"
	"atelier/persistence/memory"
	"atelier/transport/httpapi"
)

const (
	secret = "a secret of thirty-two characters"
	label  = "lab"
)

// gate is an Authenticator on a journal in memory, with its own clock and list of API tokens.
type gate struct {
	*Authenticator
	t       *testing.T
	clock   time.Time
	tokens  *settings.View
	people  *people.View
	unknown error // returned instead of tokens and people
}

func newGate(t *testing.T) *gate {
	g := &gate{t: t, clock: time.Now(), tokens: &settings.View{}}
	now := func() time.Time { return g.clock }
	journal := memory.New()
	t.Cleanup(func() { _ = journal.Close() })
	account := Account(secret, "admin", "password")
	sessions, err := login.Load(journal, account, now)
	if err != nil {
		t.Fatal(err)
	}
	g.Authenticator = New(Config{
		AdminID: "admin", AdminPassword: "password", AdminLifetime: 8 * time.Hour, AttendeeLifetime: 12 * time.Hour,
		Signer: NewSigner(secret, account, now), Sessions: sessions, Tokens: func() (*settings.View, error) { return g.tokens, g.unknown },
		People:   func() (*people.View, error) { return g.people, g.unknown },
		Failures: NewFailures(httpapi.Rate{Burst: 20, Per: 5 * time.Minute}, now), PINKey: []byte("k"), Now: now,
	})
	return g
}

func (g *gate) identify(cookie, authorization string) Identity {
	g.t.Helper()
	id, bad, err := g.Identify([]byte(cookie), authorization)
	if bad || err != nil {
		g.t.Fatal("the token is bad, or:", err)
	}
	return id
}

func (g *gate) admin() Identity {
	g.t.Helper()
	i, err := g.GrantAdmin(Identity{}, Login{Name: "Grace"})
	if err != nil {
		g.t.Fatal(err)
	}
	return g.identify(i.Cookie, "")
}

func (g *gate) attendee() Identity {
	g.t.Helper()
	i, err := g.GrantAttendee(Identity{}, label, "lin", "Lin", 0)
	if err != nil {
		g.t.Fatal(err)
	}
	return g.identify(i.Cookie, "")
}

func (g *gate) robot() Identity {
	hash := sha256.Sum256([]byte("atl_token"))
	g.tokens = &settings.View{Tokens: []*settings.ApiToken{{Id: "robot", SecretHash: hash[:]}}}
	return g.identify("", "Bearer atl_token")
}

// life is a holder of a grant.
type life struct {
	standing Standing
	ended    []string
}

func (l *life) Standing() *Standing { return &l.standing }
func (l *life) End(reason string)   { l.ended = append(l.ended, reason) }

// whatEnds contains the ways in which a grant can end, each with a caller.
var whatEnds = map[string]struct {
	who   func(*gate) Identity
	admin bool
	end   func(*gate, *Identity, *bool)
	// silent means that no notice is sent, so only a check detects the end.
	silent bool
}{
	"a logout":             {(*gate).admin, true, func(g *gate, i *Identity, _ *bool) { _ = g.Authenticator.End(i) }, false},
	"an attendee's logout": {(*gate).attendee, false, func(g *gate, i *Identity, _ *bool) { _ = g.Authenticator.End(i) }, false},
	"a revoked API token":  {(*gate).robot, true, func(g *gate, i *Identity, _ *bool) { g.tokens = &settings.View{}; g.Revoked("robot") }, false},
	"a removed attendee":   {(*gate).attendee, false, func(_ *gate, _ *Identity, alive *bool) { *alive = false }, true},
	"a deleted codelab":    {(*gate).robot, true, func(_ *gate, _ *Identity, alive *bool) { *alive = false }, true},
	"an expired login":     {(*gate).admin, true, func(g *gate, _ *Identity, _ *bool) { g.clock = g.clock.Add(8 * time.Hour) }, true},
	"an expired attendee":  {(*gate).attendee, false, func(g *gate, _ *Identity, _ *bool) { g.clock = g.clock.Add(12 * time.Hour) }, true},
}

// An earlier version checked the caller first and recorded the connection later. A connection that
// was opening while its session ended therefore kept all its rights.
func TestHoldRefusesAnEndedGrant(t *testing.T) {
	for name, tc := range whatEnds {
		t.Run(name, func(t *testing.T) {
			g, alive := newGate(t), true
			who := tc.who(g)
			l := &life{standing: who.Standing(label, tc.admin, func() bool { return alive })}
			tc.end(g, &who, &alive)
			if g.Hold(l) == "" {
				t.Error("Hold accepts a grant that has ended")
			}
			if len(g.holders.byKey) != 0 {
				t.Error("a holder that was refused is kept")
			}
		})
	}
}

// hooked counts down left whenever Hold asks for the standing. At 0 it calls between.
type hooked struct {
	life
	left    int
	between func()
}

func (h *hooked) Standing() *Standing {
	if h.left--; h.left == 0 {
		h.between()
	}
	return &h.standing
}

func TestAnEndDuringHoldIsNotMissed(t *testing.T) {
	for moment := range 2 {
		g := newGate(t)
		who := g.admin()
		h := &hooked{life: life{standing: who.Standing(label, true, nil)}, left: moment + 1, between: func() { _ = g.End(&who) }}
		if g.Hold(h) == "" && len(h.ended) == 0 {
			t.Errorf("ended at moment %d, Hold accepts the grant and does not end it", moment)
		}
		if h.left > 0 {
			t.Errorf("moment %d was not reached", moment)
		}
	}
}

func TestHoldersEndWithTheirGrant(t *testing.T) {
	for name, tc := range whatEnds {
		t.Run(name, func(t *testing.T) {
			g, alive := newGate(t), true
			began := g.clock
			who := tc.who(g)
			stranger := g.attendee()
			l := &life{standing: who.Standing(label, tc.admin, func() bool { return alive })}
			released := &life{standing: who.Standing(label, tc.admin, func() bool { return alive })}
			other := &life{standing: stranger.Standing(label, false, func() bool { return true })}
			for _, l := range []*life{l, released, other} {
				if g.Hold(l) != "" {
					t.Fatal("Hold refuses a valid grant")
				}
			}
			g.Release(released)
			g.Sweep()
			if len(l.ended) != 0 {
				t.Fatalf("the grant ended early: %v", l.ended)
			}
			tc.end(g, &who, &alive)
			if tc.silent {
				g.Check(l)
			}
			if len(l.ended) != 1 {
				t.Errorf("the grant ended %v, want once", l.ended)
			}
			g.Sweep()
			if len(l.ended) != 2 || len(released.ended) != 0 {
				t.Errorf("the sweep ended %v, and the released holder %v", l.ended, released.ended)
			}
			if len(other.ended) != 0 && g.clock.Sub(began) < 12*time.Hour {
				t.Errorf("the grant of another session ended: %v", other.ended)
			}
		})
	}
}

// A registration gives the browser another session id. Connections and answers that began before
// continue.
func TestHoldersMoveToTheNextID(t *testing.T) {
	g := newGate(t)
	who := g.admin()
	l := &life{standing: who.Standing(label, true, nil)}
	if g.Hold(l) != "" {
		t.Fatal("Hold refuses a valid grant")
	}
	next, err := g.GrantAttendee(who, label, "lin", "Lin", 0)
	if err != nil {
		t.Fatal(err)
	}
	after := g.identify(next.Cookie, "")
	g.clock = g.clock.Add(time.Minute)
	if gone, _, _ := g.Sessions.Use(who.SessionID); gone.Admin(0) != nil {
		t.Fatal("the earlier id is still valid")
	}
	if g.Sweep(); len(l.ended) != 0 {
		t.Errorf("the grant ended with the earlier id: %v", l.ended)
	}
	if err := g.End(&after); err != nil || len(l.ended) != 1 {
		t.Errorf("the grant did not end with the logout: %v, %v", l.ended, err)
	}
}

func TestALaterGrantOfTheSameAttendeeKeepsHolders(t *testing.T) {
	g := newGate(t)
	who := g.attendee()
	l := &life{standing: who.Standing(label, false, nil)}
	if g.Hold(l) != "" {
		t.Fatal("Hold refuses a valid grant")
	}
	g.clock = g.clock.Add(6 * time.Hour)
	next, err := g.GrantAttendee(who, label, "lin", "Lin", 0) // rejoined with the code
	if err != nil {
		t.Fatal(err)
	}
	who = g.identify(next.Cookie, "")
	g.clock = g.clock.Add(7 * time.Hour)
	if g.Sweep(); len(l.ended) != 0 {
		t.Errorf("the grant ended although the attendee has another: %v", l.ended)
	}
	other, err := g.GrantAttendee(who, label, "another", "Max", 0)
	if err != nil {
		t.Fatal(err)
	}
	g.identify(other.Cookie, "")
	g.clock = g.clock.Add(time.Minute) // the earlier id is no longer valid
	if g.Sweep(); len(l.ended) != 1 {
		t.Errorf("the holder did not end with the attendee's last grant: %v", l.ended)
	}
}

func TestACallerWhoLoggedOutIsUnknown(t *testing.T) {
	g := newGate(t)
	who := g.admin()
	knows := func(who *Identity) bool {
		known, err := g.Knows(who, true)
		return known && err == nil
	}
	if !knows(&who) || !who.Admin() || !who.Known() {
		t.Fatal("a logged-in caller is unknown")
	}
	if err := g.End(&who); err != nil {
		t.Fatal(err)
	}
	if knows(&who) || who.Admin() || who.Known() {
		t.Error("a caller who logged out is still known")
	}
	robot := g.robot()
	if g.tokens = (&settings.View{}); knows(&robot) {
		t.Error("a revoked token is known")
	}
}

func TestADeviceCookieBelongsToOneAccountAndExpires(t *testing.T) {
	g := newGate(t)
	cookie, expires, err := g.Signer.Device("d")
	if err != nil || g.Signer.DeviceID(cookie) != "d" || expires.Sub(g.clock) != 180*24*time.Hour {
		t.Fatalf("the device is %q until %v, %v", g.Signer.DeviceID(cookie), expires, err)
	}
	now := func() time.Time { return g.clock }
	for name, account := range map[string][]byte{
		"another password": Account(secret, "admin", "other"), "another name": Account(secret, "admin2", "password"),
		"another cut": Account(secret, "adminp", "assword"), "another secret": Account(secret+"x", "admin", "password"),
	} {
		if NewSigner(secret, account, now).DeviceID(cookie) != "" {
			t.Errorf("%s: the cookie still identifies the device", name)
		}
	}
	session, _ := g.Signer.Cookie("s", expires)
	if g.Signer.DeviceID(session) != "" {
		t.Error("a session cookie is accepted as a device cookie")
	}
	if _, err := g.Signer.SessionID(cookie); err == nil {
		t.Error("a device cookie is accepted as a session cookie")
	}
	g.clock = expires.Add(time.Second)
	if g.Signer.DeviceID(cookie) != "" {
		t.Error("an expired cookie still identifies the device")
	}
}

func TestEachFailureDelaysTheNextResponse(t *testing.T) {
	g := newGate(t)
	var nobody Identity
	a := g.Failures.Attempt(&nobody, "", "192.0.2.1", "admin")
	var last time.Duration
	for i := range 20 {
		if w := a.Charge(); w != 0 {
			t.Fatalf("failure %d must wait for %v", i, w)
		}
		delay := a.Delay()
		if delay < last || i == 1 && delay <= last || delay > maxSlowLogin {
			t.Errorf("failure %d is delayed by %v, the previous one by %v", i, delay, last)
		}
		last = delay
	}
	if w := a.Charge(); w == 0 || last != maxSlowLogin {
		t.Errorf("after 20 failures, the wait is %v, the last delay was %v", w, last)
	}
	who := g.admin()
	for name, b := range map[string]Attempt{
		"another account": g.Failures.Attempt(&nobody, "", "192.0.2.1", "root"), "another address": g.Failures.Attempt(&nobody, "", "192.0.2.2", "admin"),
		"a device": g.Failures.Attempt(&nobody, "d", "192.0.2.1", "admin"), "a session": g.Failures.Attempt(&who, "", "192.0.2.1", "admin"),
	} {
		if b.Charge() != 0 {
			t.Errorf("an attempt from %s has to wait, too", name)
		}
	}
}

// A cookie removed from the cache is verified again, and stays valid.
func TestClearingTheCacheEndsNoSession(t *testing.T) {
	g := newGate(t)
	issued, err := g.GrantAdmin(Identity{}, Login{Name: "Grace"})
	if err != nil {
		t.Fatal(err)
	}
	before := g.identify(issued.Cookie, "")
	g.Forget()
	if g.cache.new != nil || g.cache.old != nil {
		t.Error("the cache still has cookies")
	}
	if after := g.identify(issued.Cookie, ""); !after.Admin() || after.SessionID != before.SessionID {
		t.Errorf("after clearing the cache, the caller is %+v", after)
	}
}

// An earlier version acted as if no API tokens existed when a node could not read them: callers had
// to log in, and live connections were closed.
func TestUnknownGrantsEndNothing(t *testing.T) {
	g := newGate(t)
	robot := g.robot()
	l := &life{standing: robot.Standing(label, true, nil)}
	if ended := g.Hold(l); ended != "" {
		t.Fatalf("Hold returned %q", ended)
	}
	g.unknown = durable.ErrUnavailable
	if _, bad, err := g.Identify(nil, "Bearer atl_token"); bad || !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("while tokens are unknown, Identify returned bad %v, %v", bad, err)
	}
	if known, err := g.Knows(&robot, true); known || err == nil {
		t.Errorf("while tokens are unknown, Knows returned %v, %v", known, err)
	}
	if g.Sweep(); len(l.ended) != 0 {
		t.Errorf("while tokens are unknown, a sweep ended %v", l.ended)
	}
	if ended := g.Hold(&life{standing: robot.Standing(label, true, nil)}); ended != Unknown {
		t.Errorf("while tokens are unknown, Hold returned %q", ended)
	}
	g.unknown, g.tokens = nil, &settings.View{}
	if g.Sweep(); len(l.ended) != 1 || l.ended[0] != Over {
		t.Errorf("the next sweep ended %v", l.ended)
	}
}

// If a caller has several grants, one valid grant is enough. If none is valid but one is unknown,
// the caller must get an error instead of a refusal.
func TestAnUnknownGrantIsNotARefusal(t *testing.T) {
	g := newGate(t)
	who := g.attendee()
	for name, tc := range map[string]struct {
		there   bool
		unknown error
		ok      bool
	}{
		"there": {true, nil, true}, "gone": {false, nil, false}, "unknown": {false, durable.ErrUnavailable, false},
	} {
		_, ok, err := who.Strongest("admin", label, true, func(string) (bool, error) { return tc.there, tc.unknown })
		if ok != tc.ok || !errors.Is(err, tc.unknown) {
			t.Errorf("%s: Strongest returned %v, %v", name, ok, err)
		}
	}
	i, err := g.GrantAttendee(who, "other", "lin", "Lin", 0)
	if err != nil {
		t.Fatal(err)
	}
	who = g.identify(i.Cookie, "")
	_, ok, err := who.Strongest("admin", "", true, func(lab string) (bool, error) {
		if lab == label {
			return true, nil
		}
		return false, durable.ErrUnavailable
	})
	if !ok || err != nil {
		t.Errorf("with one valid grant Strongest returned %v, %v", ok, err)
	}
}
