package login

import (
	"slices"
	"testing"
	"time"

	pb "atelier/actors/login/loginpb"
)

// Several people may have used one browser. Each person acts by their own session. If there are
// several sessions, the person acts by the one that expires last, and never by an ended one.
func TestEachPersonActsByTheirOwnSession(t *testing.T) {
	d := newDesk(t)
	lin := func(name string, after time.Duration) AttendeeGrant {
		return AttendeeGrant{Codelab: "lab", AttendeeID: name, ExpiresAt: d.clock.Add(after).UnixMilli()}
	}
	grant := func(from, id string, g AttendeeGrant) {
		t.Helper()
		if _, err := d.GrantAttendee(from, id, "name of "+g.AttendeeID, g); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.GrantAdmin("", "a", &pb.AdminGrant{Login: "boss", Name: "Boss", CreatedAt: d.clock.UnixMilli(), ExpiresAt: d.clock.Add(time.Hour).UnixMilli()}); err != nil {
		t.Fatal(err)
	}
	grant("a", "b", lin("lin", 2*time.Hour))
	grant("a", "c", lin("max", 3*time.Hour))
	grant("b", "d", lin("lin", 4*time.Hour))
	grant("c", "e", lin("lin", time.Hour)) // issued last, and ends first
	s, ok, err := d.Use("b")
	if !ok || err != nil {
		t.Fatal("the session is invalid:", err)
	}
	siblings := s.Siblings("lab")
	if slices.Sort(siblings); !slices.Equal(siblings, []string{"lin", "max"}) || len(s.Siblings("other")) != 0 {
		t.Errorf("the siblings in the lab are %v, or there are siblings elsewhere", siblings)
	}
	browser := s.Family()
	for _, tc := range []struct {
		after    time.Duration
		browser  string
		lab      string
		leading  bool
		of, want string
	}{
		{0, browser, "lab", true, "boss", "boss"},
		{time.Hour - time.Millisecond, browser, "lab", true, "boss", "boss"},
		{time.Hour, browser, "lab", true, "boss", ""}, // it has ended
		{0, browser, "lab", true, "lin", ""},
		{0, browser, "lab", true, "", ""},
		{0, browser, "lab", false, "", ""},
		{0, browser, "lab", false, "boss", ""},
		{0, browser, "lab", false, "nobody", ""},
		{0, browser, "other", false, "lin", ""},
		{0, "another", "lab", false, "lin", ""},
		{0, browser, "lab", false, "lin", "d"},
		{0, browser, "lab", false, "max", "c"},
		{3*time.Hour - time.Millisecond, browser, "lab", false, "max", "c"},
		{3 * time.Hour, browser, "lab", false, "max", ""},
		{3 * time.Hour, browser, "lab", false, "lin", "d"},
	} {
		now := d.clock
		d.clock = now.Add(tc.after)
		got, ok, err := d.Acting(tc.browser, tc.lab, tc.leading, tc.of)
		switch {
		case err != nil || ok != (tc.want != ""):
			t.Errorf("with %+v Acting returned found %v, %v", tc, ok, err)
		case ok && tc.leading && got.Admin(d.ms()).GetLogin() != tc.want:
			t.Errorf("%+v: the session found has the login %v", tc, got.Admin(d.ms()))
		case ok && !tc.leading && got.id != KeyOf(tc.want):
			t.Errorf("%+v: found another session", tc)
		}
		d.clock = now
	}
}

// A login is listed until it ends, latest first.
func TestLoginsAreListedUntilTheyEnd(t *testing.T) {
	d := newDesk(t)
	d.admin("", "a", "Grace")
	d.clock = d.clock.Add(time.Hour)
	d.admin("", "b", "Grace")
	names := func(after time.Duration) (out []string) {
		now := d.clock
		d.clock = now.Add(after)
		for _, g := range d.Logins("") {
			out = append(out, g.Login)
		}
		d.clock = now
		return out
	}
	for after, want := range map[time.Duration][]string{
		0: {"login of b", "login of a"}, 7*time.Hour - time.Millisecond: {"login of b", "login of a"}, 7 * time.Hour: {"login of b"}, 8 * time.Hour: nil,
	} {
		if got := names(after); !slices.Equal(got, want) {
			t.Errorf("after %v, the logins are %q, want %q", after, got, want)
		}
	}
	if got := d.Logins("somebody else"); len(got) != 0 {
		t.Errorf("the logins of somebody else are %v", got)
	}
}

// Until returns the end of an attendee's last grant in a browser, and whether the session has left
// the codelab.
func TestUntilReturnsTheEndOfTheLastGrant(t *testing.T) {
	d := newDesk(t)
	in := func(from, id, who string, after time.Duration) {
		t.Helper()
		if _, err := d.GrantAttendee(from, id, who, AttendeeGrant{Codelab: "lab", AttendeeID: who, ExpiresAt: d.clock.Add(after).UnixMilli()}); err != nil {
			t.Fatal(err)
		}
	}
	in("", "a", "lin", time.Hour)
	in("a", "b", "lin", 2*time.Hour)
	s, _, _ := d.Use("b")
	until := func(s Session, who string) (time.Duration, bool) {
		last, left := s.Until(d.ms(), "lab", who)
		if last == 0 {
			return 0, left
		}
		return time.UnixMilli(last).Sub(d.clock.Truncate(time.Millisecond)), left
	}
	if last, left := until(s, "lin"); last != 2*time.Hour || left {
		t.Errorf("lin's last grant ends in %v, left: %v; want 2 h", last, left)
	}
	if last, left := until(s, "max"); last != 0 || left {
		t.Errorf("max's last grant ends in %v, left: %v; want no grant", last, left)
	}
	if last, left := until(Session{}, "lin"); last != 0 || !left {
		t.Errorf("without a session lin's last grant ends in %v, left: %v", last, left)
	}
	if who, err := d.Leave("b", "lab"); who != "lin" || err != nil {
		t.Fatalf("Leave returned %q, %v, want lin", who, err)
	}
	if _, left := until(s, "lin"); !left {
		t.Error("after leaving the codelab, Until returns not left")
	}
}

// A replaced id keeps its grants for only one more minute. Therefore the successor acts from the
// start, even if its grant ends earlier.
func TestAReplacedIDLastsAMinute(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "a", "lab")
	began := d.clock
	if _, err := d.GrantAttendee("a", "b", "Lin", AttendeeGrant{Codelab: "lab", AttendeeID: "attendee of lab", ExpiresAt: began.Add(time.Hour).UnixMilli()}); err != nil {
		t.Fatal(err)
	}
	s, _, _ := d.Use("b")
	for after, until := range map[time.Duration]time.Duration{0: 12 * time.Hour, lastMinute - time.Millisecond: 12 * time.Hour, lastMinute: time.Hour} {
		d.clock = began.Add(after)
		if got, ok, err := d.Acting(s.Family(), "lab", false, "attendee of lab"); !ok || err != nil || got.id != KeyOf("b") {
			t.Errorf("after %v, Acting does not return the successor: %v, %v", after, ok, err)
		}
		if last, _ := s.Until(d.ms(), "lab", "attendee of lab"); last != began.Add(until).UnixMilli() {
			t.Errorf("after %v, the last grant ends at %v", after, time.UnixMilli(last).Sub(began))
		}
	}
}

// A name belongs to a facilitator while an accepted login has this name or a name that looks the
// same.
func TestWhichNamesBelongToFacilitators(t *testing.T) {
	d := newDesk(t)
	d.admin("", "a", "Grace")
	nobody := func(*pb.AdminGrant) bool { return false }
	d.attendee("", "b", "lab") // of an attendee whose name is Lin
	for _, tc := range []struct {
		after  time.Duration
		name   string
		counts func(*pb.AdminGrant) bool
		want   bool
	}{
		{0, "Grace", everybody, true}, {0, "grace", everybody, true}, {0, "Grace", nobody, false}, {0, "Lin", everybody, false}, {0, "", everybody, false},
		{8*time.Hour - time.Millisecond, "Grace", everybody, true}, {8 * time.Hour, "Grace", everybody, false},
	} {
		now := d.clock
		d.clock = now.Add(tc.after)
		if got := d.NamesAdmin(tc.name, tc.counts); got != tc.want {
			t.Errorf("after %v: NamesAdmin(%q) = %v", tc.after, tc.name, got)
		}
		d.clock = now
	}
}
