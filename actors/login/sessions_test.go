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

// everybody accepts all admin grants.
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
		d.t.Errorf("%s: the grants of %s are %q, want %q", what, id, got, may)
	}
}

// Many tabs register at the same time. In an earlier version, each wrote a whole session without
// the grants of the others.
func TestConcurrentTabsLoseNoGrant(t *testing.T) {
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
				t.Errorf("%s: %s has %d grants (valid: %v), want %d", when, id, len(s.Grants()), ok, tabs+1)
			}
		}
		d.want(when, "old", "a")
		d.crash()
	}
}

// Grants are passed only to later ids. A person who used this browser before, or planted its
// cookie, gains nothing from another person's registration.
func TestGrantsArePassedOnlyToLaterIDs(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "one", "b")
	d.want("the registering tab", "one", "a b")
	d.attendee("old", "two", "c") // after the first tab has used its id
	d.want("the earlier id", "one", "a b")
	d.want("the later id", "two", "a c")
	d.want("their common predecessor", "old", "a")
	d.attendee("one", "next", "c")
	d.want("the successor of the earlier id", "next", "a b c")
}

func TestConcurrentRegistrationsOfTwoNamesShareNoGrant(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "lin", "b")
	if _, err := d.GrantAttendee("old", "max", "Max", d.grant("c", "max")); err != nil {
		t.Fatal(err)
	}
	d.want("the first id", "lin", "a b")
	d.want("the second id", "max", "a c")
}

func TestRegistrationsWithinAMinuteCountAsConcurrent(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "one", "b")
	d.clock = d.clock.Add(time.Minute)
	d.attendee("old", "two", "c")
	if d.UnderWay("old", "b", " lin") == nil || d.UnderWay("old", "b", "Max") != nil || d.UnderWay("old", "a", "Lin") != nil || d.UnderWay("one", "b", "Lin") != nil {
		t.Error("UnderWay does not find a registration in progress, or finds another one")
	}
	d.want("the second id within a minute", "two", "a b c")
	d.clock = d.clock.Add(time.Millisecond)
	if d.UnderWay("old", "b", "Lin") != nil {
		t.Error("after a minute, UnderWay still finds the registration")
	}
	d.attendee("old", "three", "c")
	d.want("the next id later", "three", "a c")
	d.attendee("old", "four", "b")
	d.Forget("attendee of b")
	if g := d.UnderWay("old", "b", "Lin"); g != nil {
		t.Errorf("UnderWay finds the registration of a removed attendee: %+v", g)
	}
	d.want("the first id", "one", "a b c")
}

func TestLeavingACodelabEndsItsGrant(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.attendee("one", "two", "b")
	d.admin("two", "three", "Grace")
	d.attendee("", "stranger", "a")
	s, _, _ := d.Use("three")
	if who, err := d.Leave("three", "a"); err != nil || who != "attendee of a" {
		t.Fatalf("Leave returned %q, %v, want attendee of a", who, err)
	}
	if attendee(s, "a") != "" {
		t.Error("a session looked up before still has the grant")
	}
	for range 2 {
		for _, id := range []string{"one", "two", "three"} {
			got, ok, _ := d.Use(id)
			if !ok || attendee(got, "a") != "" {
				t.Errorf("%s still has the grant, or is invalid (valid: %v)", id, ok)
			}
		}
		d.want("the other grants", "three", "admin a b")
		d.want("another browser", "stranger", "a")
		d.crash()
	}
	for _, id := range []string{"three", "nobody's"} {
		if who, err := d.Leave(id, "c"); err != nil || who != "" {
			t.Errorf("leaving as %s returned %q, %v", id, who, err)
		}
	}
	d.journal.FailCommits(1, durable.ErrClosed)
	if _, err := d.Leave("three", "b"); err == nil {
		t.Error("Leave returned no error although nothing was stored")
	}
	d.want("after a failed Leave", "three", "admin a b")
}

func TestALostResponseLocksNobodyOut(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "lost", "b") // its response does not arrive
	d.clock = d.clock.Add(time.Hour)
	d.want("an hour after", "old", "a")
	d.attendee("old", "new", "c")
	d.want("later", "old", "a")
	d.want("the delivered id", "new", "a c")
	d.clock = d.clock.Add(59 * time.Second)
	d.want("within a minute", "old", "a")
	d.clock = d.clock.Add(time.Second)
	d.want("a minute after its successor was used", "old", "-")
	d.want("the successor", "new", "a c")
}

// A replaced id is valid for one minute, even if it is replaced again within that minute.
func TestReplacingAnIDAgainDoesNotExtendItsMinute(t *testing.T) {
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

func TestAnEndedIDStaysEndedAfterACrash(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "old", "a")
	d.attendee("old", "new", "b")
	d.want("the used id", "new", "a b")
	d.attendee("", "other", "a") // when this is stored, so is the first use
	d.crash()
	d.want("within its minute", "old", "a")
	d.clock = d.clock.Add(time.Minute)
	d.want("after its minute", "old", "-")
	d.want("the successor", "new", "a b")
}

// An id that an attacker planted in a browser does not get the admin grant of its user's login.
// Neither do ids issued from it.
func TestAPlantedIDGetsNoAdminGrant(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "fixed", "a")
	d.admin("fixed", "victim", "Grace")
	d.want("the victim", "victim", "admin a")
	d.want("the attacker", "fixed", "a")
	d.attendee("fixed", "attacker", "b")
	d.want("the attacker's next id", "attacker", "a b")
	d.attendee("victim", "next", "c")
	d.want("the victim's next id", "next", "admin a c")
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
		t.Error("a session looked up before is still valid")
	}
	d.attendee("two", "after", "c") // this request was in flight during the logout
	for range 2 {
		for _, id := range []string{"one", "two", "three"} {
			d.want("after the logout", id, "-")
		}
		d.want("a registration in progress", "after", "c")
		d.want("another family", "stranger", "a")
		d.crash()
	}
	if d.NamesAdmin("grace", everybody) {
		t.Error("the name still belongs to a facilitator")
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
		t.Error("a grant that was not stored was returned")
	}
	d.want("the id that was not stored", "new", "-")
	d.want("the old id", "old", "a")
	d.journal.FailCommits(1, durable.ErrClosed)
	if err := d.End("old"); err == nil {
		t.Error("End returned no error although nothing was stored")
	}
	d.want("the old id", "old", "a")
}

func TestAFailedNoteIsWrittenLater(t *testing.T) {
	for name, fail := range map[string]func(*desk){
		"the commit fails":  func(d *desk) { d.journal.FailCommits(1, durable.ErrReadOnly) },
		"the queue is full": func(d *desk) { d.journal.SetFull(true) },
	} {
		d := newDesk(t)
		d.attendee("", "old", "a")
		d.attendee("old", "new", "b")
		fail(d)
		d.want("the used id", "new", "a b")
		d.journal.SetFull(false)
		d.attendee("", "yet another", "a") // when this is stored, so is the write before it
		d.Expire()
		d.attendee("", "other", "a") // when this is stored, so is the write before it
		d.crash()
		d.clock = d.clock.Add(time.Minute)
		d.want(name+": after its minute", "old", "-")
	}
}

// Sign-in and sign-out work while the disk is nearly full, because people must sign in to delete
// something.
func TestSessionsUseTheDiskReserve(t *testing.T) {
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

func TestGrantsAndIDsExpire(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.clock = d.clock.Add(6 * time.Hour)
	d.admin("one", "two", "Grace")
	d.want("both grants", "two", "admin a")
	if !d.NamesAdmin(" GRACE\u200b", everybody) || d.NamesAdmin("Gracia", everybody) {
		t.Error("NamesAdmin does not compare normalized names")
	}
	d.clock = d.clock.Add(6 * time.Hour)
	d.want("after the attendee's grant", "two", "admin")
	d.clock = d.clock.Add(2 * time.Hour)
	d.want("after both grants", "two", "-")
	if d.NamesAdmin("Grace", everybody) {
		t.Error("the name of an expired login still belongs to a facilitator")
	}
	d.attendee("two", "three", "b")
	d.want("a new grant", "three", "b")
	d.Expire()
	if d.Len() != 1 || len(d.families) != 1 || len(d.named) != 0 || len(d.attendees) != 1 {
		t.Errorf("kept: %d families, %d ids, %d names, %d attendees", d.Len(), len(d.families), len(d.named), len(d.attendees))
	}
}

func TestANewPasswordEndsAdminGrants(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.admin("one", "two", "Grace")
	d.admin("", "three", "Ada")
	d.load([]byte("another account"))
	d.want("the attendee's grant", "two", "a")
	d.want("a login alone", "three", "-")
	if d.NamesAdmin("Grace", everybody) {
		t.Error("the name still belongs to a facilitator")
	}
}

func TestTheIDsOfAFamilyAreBounded(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "used", "a")
	d.attendee("used", "tab", "a")
	d.want("another id in use", "tab", "a")
	for i := range 3 * maxIDs { // responses that do not arrive
		d.attendee("used", fmt.Sprint("lost", i), "b")
	}
	d.want("the presented id", "used", "a")
	d.want("another id in use", "tab", "a")
	d.want("the newest id", fmt.Sprint("lost", 3*maxIDs-1), "a b")
	d.want("the oldest id", "lost0", "-")
	d.restart()
	if len(d.families) > maxIDs {
		t.Errorf("%d ids are kept", len(d.families))
	}
}

// If all ids of a family are in use, the oldest is dropped, but never the one that the browser has
// just presented.
func TestThePresentedIDIsNotDropped(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "used", "a")
	for i := range maxIDs {
		id := fmt.Sprint("tab", i)
		d.attendee("used", id, "a")
		d.want("a new id", id, "a")
	}
	d.want("the presented id", "used", "a")
	d.want("the oldest other id", "tab0", "-")
	d.want("the next id", "tab1", "a")
}

// Without a bound, a person with the code of an attendee could create sessions indefinitely.
func TestBrowsersOfAnAttendeeAreBounded(t *testing.T) {
	d := newDesk(t)
	for i := range maxFamilies + 2 {
		d.attendee("", fmt.Sprint("browser", i), "a")
	}
	d.want("the first browser", "browser0", "-")
	d.want("the second browser", "browser1", "-")
	d.want("the third browser", "browser2", "a")
	d.want("the last browser", fmt.Sprint("browser", maxFamilies+1), "a")
	d.attendee("browser2", "again", "a")
	d.want("the third browser again", "again", "a")
}

func TestForgettingAnAttendeeRemovesTheirGrants(t *testing.T) {
	d := newDesk(t)
	d.attendee("", "one", "a")
	d.attendee("one", "two", "b")
	d.attendee("", "three", "a")
	d.Forget("attendee of a")
	d.Forget("nobody")
	d.attendee("", "other", "c") // when this is stored, so is the write before it
	for range 2 {
		d.want("both grants", "two", "a b")
		d.want("the forgotten grant alone", "three", "a")
		if s, _, _ := d.Use("three"); attendee(s, "a") != "" {
			t.Error("the grant of the forgotten attendee is still valid")
		}
		err := d.journal.Scan(durable.Scan{Table: familyTable}, func(_, value []byte) bool {
			if strings.Contains(string(value), "attendee of a") {
				t.Error("the store still contains the forgotten attendee")
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		d.crash()
	}
	if len(d.attendees) != 2 { // the attendees of b and c
		t.Errorf("grants of %d attendees are kept, want 2", len(d.attendees))
	}
}
