package login

import (
	"testing"
	"time"
)

func TestTheLastUseOfALoginIsRecordedEveryQuarterHour(t *testing.T) {
	d := newDesk(t)
	d.admin("", "a", "Grace")
	made := d.clock
	seen := func() time.Duration {
		t.Helper()
		logins := d.Logins("")
		if len(logins) != 1 {
			t.Fatalf("the logins are %v", logins)
		}
		return time.UnixMilli(SeenAt(logins[0])).Sub(made.Truncate(time.Millisecond))
	}
	use := func(after time.Duration) {
		t.Helper()
		d.clock = made.Add(after)
		if _, ok, err := d.Use("a"); !ok || err != nil {
			t.Fatalf("using the session returned %v, %v", ok, err)
		}
	}
	use(0)
	use(SeenEvery - time.Second)
	if seen() > 0 {
		t.Errorf("within a quarter of an hour SeenAt moved by %v", seen())
	}
	use(SeenEvery)
	if seen() != SeenEvery {
		t.Errorf("after a quarter of an hour, SeenAt moved by %v", seen())
	}
	// An id issued from the first belongs to the same login, even after a restart.
	d.attendee("a", "b", "lab")
	d.restart()
	use(SeenEvery + time.Minute)
	if seen() != SeenEvery {
		t.Errorf("after a restart, SeenAt moved by %v", seen())
	}
}

func TestASecondLoginReplacesTheFirst(t *testing.T) {
	d := newDesk(t)
	d.admin("", "a", "Grace")
	s, ok, _ := d.Use("a")
	now := d.clock.UnixMilli()
	if !ok || s.Admin(now) == nil {
		t.Fatal("the session has no login")
	}
	// A second login in the same browser ends nothing. Everything that depends on the first login
	// now depends on the second.
	d.admin("a", "b", "Grace")
	if _, err := d.EndLogin("", "login of a"); err != nil || s.Admin(now) == nil {
		t.Errorf("after ending the first login, the second is gone, or %v", err)
	}
	if ended, err := d.EndLogin("", "login of b"); !ended || err != nil || s.Admin(now) != nil {
		t.Errorf("ending the second login returned %v, %v, or it remains", ended, err)
	}
}

// Ending a login affects every id that was issued with it, even in a store that is read again.
// Other grants stay.
func TestALoginEndsForEveryID(t *testing.T) {
	d := newDesk(t)
	d.admin("", "a", "Grace")
	d.attendee("a", "b", "a")
	if ended, err := d.EndLogin("", "login of a"); !ended || err != nil {
		t.Fatalf("EndLogin returned %v, %v, want true", ended, err)
	}
	for range 2 {
		d.want("the id of the login", "a", "-")
		d.want("the next id", "b", "a")
		d.crash()
	}
}
