package login

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/actors/durable"
	pb "atelier/actors/login/loginpb"
	"atelier/persistence/memory"
)

// desk is sessions on a journal in memory, with their own clock.
type desk struct {
	*Sessions
	t       *testing.T
	journal *memory.Store
	clock   time.Time
}

// everybody accepts the grants of all facilitators.
func everybody(*pb.AdminGrant) bool { return true }

var account = []byte("the account")

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, journal: memory.New(), clock: time.Now()}
	t.Cleanup(func() { _ = d.journal.Close() })
	d.load(account)
	return d
}

func (d *desk) load(account []byte) {
	d.t.Helper()
	var err error
	if d.Sessions, err = Load(d.journal, account, func() time.Time { return d.clock }); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) restart() { d.journal = d.journal.Reopen(); d.load(account) }
func (d *desk) crash()   { d.journal = d.journal.Crash(); d.load(account) }

func (d *desk) admin(from, id, name string) {
	d.t.Helper()
	if _, err := d.GrantAdmin(from, id, &pb.AdminGrant{Login: "login of " + id, Name: name, CreatedAt: d.clock.UnixMilli(), ExpiresAt: d.clock.Add(8 * time.Hour).UnixMilli()}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) attendee(from, id, codelab string) {
	d.t.Helper()
	if _, err := d.GrantAttendee(from, id, "Lin", d.grant(codelab, "attendee of "+codelab)); err != nil {
		d.t.Fatal(err)
	}
}

// attendee returns the attendee of a session in a codelab, or "".
func attendee(s Session, codelab string) string {
	if g := s.Grant(codelab); g != nil {
		return g.AttendeeID
	}
	return ""
}

func (d *desk) grant(codelab, attendee string) AttendeeGrant {
	return AttendeeGrant{Codelab: codelab, AttendeeID: attendee, ExpiresAt: d.clock.Add(12 * time.Hour).UnixMilli()}
}

// may lists the grants of an id when it is presented: "-" for an invalid id, otherwise "admin" and
// the codelabs.
func (d *desk) may(id string) string {
	s, ok, _ := d.Use(id)
	if !ok {
		return "-"
	}
	var out []string
	if s.Admin(d.ms()) != nil {
		out = append(out, "admin")
	}
	for _, lab := range []string{"a", "b", "c"} {
		if g := s.Grant(lab); g != nil && g.ExpiresAt > d.ms() {
			out = append(out, lab)
		}
	}
	return strings.Join(out, " ")
}

func (d *desk) want(what, id, may string) {
	d.t.Helper()
	if got := d.may(id); got != may {
		d.t.Errorf("%s: %s may %q, want %q", what, id, got, may)
	}
}

// Two tabs register at once. Earlier, each wrote a whole session without the grants of the other.
func TestTwoTabsAtOnceLoseNoGrant(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	const tabs = 24
	var all sync.WaitGroup
	for i := range tabs {
		all.Go(func() {
			if _, err := d.GrantAttendee("old", fmt.Sprint("tab", i), "Lin", d.grant(fmt.Sprint("lab", i), "x")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, when := range []string{"at once", "after a crash"} {
		for _, id := range []string{"tab0", fmt.Sprint("tab", tabs-1)} {
			s, ok, _ := d.Use(id)
			if !ok || len(s.Grants()) != tabs+1 {
				t.Errorf("%s: %s has %d grants (good: %v), want %d", when, id, len(s.Grants()), ok, tabs+1)
			}
		}
		d.want(when, "old", "a")
		d.crash()
	}
}

// Grants are passed only to later ids. A person who used this browser before, or planted its
// cookie, gains nothing from another person's registration.
func TestGrantsFlowForwardOnly(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "one", "b")
	d.want("the one who registered", "one", "a b")
	d.attendee("old", "two", "c") // when the first one's id was used
	d.want("the earlier", "one", "a b")
	d.want("the later", "two", "a c")
	d.want("where both came from", "old", "a")
	d.attendee("one", "next", "c")
	d.want("what is issued from it", "next", "a b c")
}

func TestTwoNamesAtOnceShareNothing(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "lin", "b")
	if _, err := d.GrantAttendee("old", "max", "Max", d.grant("c", "max")); err != nil {
		t.Fatal(err)
	}
	d.want("one", "lin", "a b")
	d.want("the other", "max", "a c")
}

func TestTwoRegistrationsAreAtOnceForAMinute(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "one", "b")
	d.clock = d.clock.Add(time.Minute)
	d.attendee("old", "two", "c")
	if d.UnderWay("old", "b", " lin") == nil || d.UnderWay("old", "b", "Max") != nil || d.UnderWay("old", "a", "Lin") != nil || d.UnderWay("one", "b", "Lin") != nil {
		t.Error("a registration under way is not known, or another one is")
	}
	d.want("within a minute", "two", "a b c")
	d.clock = d.clock.Add(time.Millisecond)
	if d.UnderWay("old", "b", "Lin") != nil {
		t.Error("after a minute it is still under way")
	}
	d.attendee("old", "three", "c")
	d.want("later", "three", "a c")
	d.attendee("old", "four", "b")
	d.Forget("attendee of b")
	if g := d.UnderWay("old", "b", "Lin"); g != nil {
		t.Errorf("somebody who was removed is still under way: %+v", g)
	}
	d.want("the first", "one", "a b c")
}

func TestOneLeavesACodelab(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.attendee("one", "two", "b")
	d.admin("two", "three", "Grace")
	d.attendee("", "stranger", "a")
	s, _, _ := d.Use("three")
	if who, err := d.Leave("three", "a"); err != nil || who != "attendee of a" {
		t.Fatal(who, err)
	}
	if attendee(s, "a") != "" {
		t.Error("what was looked up before is still theirs")
	}
	for range 2 {
		for _, id := range []string{"one", "two", "three"} {
			got, ok, _ := d.Use(id)
			if !ok || attendee(got, "a") != "" {
				t.Errorf("%s is still theirs, or is not known (%v)", id, ok)
			}
		}
		d.want("the rest", "three", "admin a b")
		d.want("another browser", "stranger", "a")
		d.crash()
	}
	for _, id := range []string{"three", "nobody's"} {
		if who, err := d.Leave(id, "c"); err != nil || who != "" {
			t.Errorf("%s: %q, %v", id, who, err)
		}
	}
	d.journal.FailCommits(1, durable.ErrClosed)
	if _, err := d.Leave("three", "b"); err == nil {
		t.Error("what was not stored is answered")
	}
	d.want("it is still theirs", "three", "admin a b")
}

func TestALostAnswerShutsNobodyOut(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "lost", "b") // its answer does not arrive
	d.clock = d.clock.Add(time.Hour)
	d.want("an hour after", "old", "a")
	d.attendee("old", "new", "c")
	d.want("later", "old", "a")
	d.want("arrived", "new", "a c")
	d.clock = d.clock.Add(59 * time.Second)
	d.want("within a minute", "old", "a")
	d.clock = d.clock.Add(time.Second)
	d.want("a minute after its successor was used", "old", "-")
	d.want("the successor", "new", "a c")
}

// A replaced id is valid for one minute, even if it is replaced again within it.
func TestAReplacedIdGainsNoFurtherMinute(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "one", "b")
	d.want("the successor", "one", "a b")
	d.clock = d.clock.Add(30 * time.Second)
	d.attendee("old", "two", "c")
	d.want("the next successor", "two", "a c")
	d.clock = d.clock.Add(30 * time.Second)
	d.want("a minute after the first", "old", "-")
}

func TestAnIdThatEndedStaysSoAfterACrash(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "new", "b")
	d.want("used", "new", "a b")
	d.attendee("", "other", "a") // behind the note of the first use
	d.crash()
	d.want("its minute goes on", "old", "a")
	d.clock = d.clock.Add(time.Minute)
	d.want("over", "old", "-")
	d.want("the successor", "new", "a b")
}

// An id that an attacker planted in a browser does not get the admin grant of its user's login.
// Neither do ids issued from it.
func TestAFixedIdGainsNoAdmin(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "fixed", "a")
	d.admin("fixed", "victim", "Grace")
	d.want("the victim", "victim", "admin a")
	d.want("the attacker", "fixed", "a")
	d.attendee("fixed", "attacker", "b")
	d.want("the attacker's next", "attacker", "a b")
	d.attendee("victim", "next", "c")
	d.want("the victim's next", "next", "admin a c")
	d.want("the attacker", "attacker", "a b")
	d.restart()
	d.want("the attacker after a restart", "attacker", "a b")
	d.want("the victim after a restart", "next", "admin a c")
}

func TestLogoutEndsTheWholeFamily(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.admin("one", "two", "Grace")
	d.attendee("one", "three", "b")
	d.attendee("", "stranger", "a")
	open, _, _ := d.Use("two")
	if err := d.End("three"); err != nil {
		t.Fatal(err)
	}
	if !open.Ended() || open.Admin(d.ms()) != nil || open.Grants() != nil {
		t.Error("what was looked up before still stands")
	}
	d.attendee("two", "after", "c") // was in flight
	for range 2 {
		for _, id := range []string{"one", "two", "three"} {
			d.want("after the logout", id, "-")
		}
		d.want("a registration that was under way", "after", "c")
		d.want("another family", "stranger", "a")
		d.crash()
	}
	if d.NamesAdmin("grace", everybody) {
		t.Error("the name is still an admin's")
	}
	if err := d.End("nobody's"); err != nil {
		t.Error(err)
	}
}

func TestUnstoredGrantsAreNotVisible(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.journal.FailCommits(1, durable.ErrClosed)
	if _, err := d.GrantAttendee("old", "new", "Lin", d.grant("b", "x")); err == nil {
		t.Error("a grant that was not stored is given")
	}
	d.want("the failed one", "new", "-")
	d.want("the old one", "old", "a")
	d.journal.FailCommits(1, durable.ErrClosed)
	if err := d.End("old"); err == nil {
		t.Error("a logout that was not stored is answered")
	}
	d.want("the old one", "old", "a")
}

func TestANoteThatCouldNotBeWrittenIsWrittenLater(t *testing.T) {
	for name, fail := range map[string]func(*desk){
		"the commit fails":  func(d *desk) { d.journal.FailCommits(1, durable.ErrReadOnly) },
		"the queue is full": func(d *desk) { d.journal.SetFull(true) },
	} {
		d := newDesk(t)
		d.attendee("", "old", "a")
		d.attendee("old", "new", "b")
		fail(d)
		d.want("the use", "new", "a b")
		d.journal.SetFull(false)
		d.attendee("", "yet another", "a") // behind it
		d.Expire()
		d.attendee("", "other", "a") // behind it
		d.crash()
		d.clock = d.clock.Add(time.Minute)
		d.want(name+": over", "old", "-")
	}
}

// Sign-in and sign-out work while the disk is nearly full, because people must sign in to delete
// something.
func TestSessionsUseTheReserveOfTheDisk(t *testing.T) {
	d := newDesk(t)
	d.journal.SetReadOnly(true)
	d.admin("", "a", "Grace")
	d.attendee("a", "b", "lab")
	if _, err := d.Leave("b", "lab"); err != nil {
		t.Error(err)
	}
	if err := d.End("b"); err != nil {
		t.Error(err)
	}
}

func TestGrantsAndIdsEndWithTheirLives(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.clock = d.clock.Add(6 * time.Hour)
	d.admin("one", "two", "Grace")
	d.want("both", "two", "admin a")
	if !d.NamesAdmin(" GRACE\u200b", everybody) || d.NamesAdmin("Gracia", everybody) {
		t.Error("the names of admins are not compared as names are")
	}
	d.clock = d.clock.Add(6 * time.Hour)
	d.want("the attendee's is over", "two", "admin")
	d.clock = d.clock.Add(2 * time.Hour)
	d.want("all is over", "two", "-")
	if d.NamesAdmin("Grace", everybody) {
		t.Error("an expired login keeps its name")
	}
	d.attendee("two", "three", "b")
	d.want("anew", "three", "b")
	d.Expire()
	if d.Len() != 1 || len(d.families) != 1 || len(d.named) != 0 || len(d.attendees) != 1 {
		t.Errorf("kept are %d families, %d ids, %d names, %d attendees", d.Len(), len(d.families), len(d.named), len(d.attendees))
	}
}

func TestAnotherPasswordEndsTheGrantsOfAdmins(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.admin("one", "two", "Grace")
	d.admin("", "three", "Ada")
	d.load([]byte("another account"))
	d.want("both kinds", "two", "a")
	d.want("an admin alone", "three", "-")
	if d.NamesAdmin("Grace", everybody) {
		t.Error("the name is still an admin's")
	}
}

func TestAFamilyIsBounded(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "used", "a")
	d.attendee("used", "tab", "a")
	d.want("another one in use", "tab", "a")
	for i := range 3 * maxIDs { // answers that do not arrive
		d.attendee("used", fmt.Sprint("lost", i), "b")
	}
	d.want("the one in use", "used", "a")
	d.want("another one in use", "tab", "a")
	d.want("the newest", fmt.Sprint("lost", 3*maxIDs-1), "a b")
	d.want("the oldest", "lost0", "-")
	d.restart()
	if len(d.families) > maxIDs {
		t.Errorf("%d ids are kept", len(d.families))
	}
}

// If all ids of a family are in use, the oldest is dropped, but never the one that the browser has
// just presented.
func TestAnIdMakesNoRoomForItsSuccessor(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "used", "a")
	for i := range maxIDs {
		id := fmt.Sprint("tab", i)
		d.attendee("used", id, "a")
		d.want("a new one", id, "a")
	}
	d.want("the one in use", "used", "a")
	d.want("the oldest of the others", "tab0", "-")
	d.want("the next", "tab1", "a")
}

// Without a bound, a person with the code of an attendee could create sessions indefinitely.
func TestBrowsersOfAnAttendeeAreBounded(t *testing.T) {
	d := newDesk(t)
	for i := range maxFamilies + 2 {
		d.attendee("", fmt.Sprint("browser", i), "a")
	}
	d.want("the first", "browser0", "-")
	d.want("the second", "browser1", "-")
	d.want("the third", "browser2", "a")
	d.want("the last", fmt.Sprint("browser", maxFamilies+1), "a")
	d.attendee("browser2", "again", "a")
	d.want("the third again", "again", "a")
}

func TestAForgottenAttendeeLeavesEveryFamily(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.attendee("one", "two", "b")
	d.attendee("", "three", "a")
	d.Forget("attendee of a")
	d.Forget("nobody")
	d.attendee("", "other", "c") // behind it
	for range 2 {
		d.want("both grants", "two", "a b")
		d.want("the forgotten one alone", "three", "a")
		if s, _, _ := d.Use("three"); attendee(s, "a") != "" {
			t.Error("it is still theirs")
		}
		err := d.journal.Scan(durable.Scan{Table: familyTable}, func(_, value []byte) bool {
			if strings.Contains(string(value), "attendee of a") {
				t.Error("the store still tells of them")
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		d.crash()
	}
	if len(d.attendees) != 2 { // those of b and c
		t.Errorf("known are %d attendees", len(d.attendees))
	}
}
