package login

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
	"atelier/actors/durable"
	pb "atelier/actors/login/loginpb"
	"atelier/persistence/memory"
)

// sharedSessions returns the sessions of two nodes on one store.
func sharedSessions(t *testing.T) [2]*Sessions {
	store, nodes := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	return following(t, func(err error) { t.Error(err) }, nodes[0], nodes[1])
}

// following returns sessions that follow these stores, one for each of two nodes.
func following(t *testing.T, failed func(error), stores ...durable.Shared) (out [2]*Sessions) {
	for i, n := range stores {
		s, err := Follow(n, []byte("account"), clock.System, failed)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		out[i] = s
	}
	return out
}

func grantFor(codelab, attendee string) AttendeeGrant {
	return AttendeeGrant{Codelab: codelab, AttendeeID: attendee, ExpiresAt: time.Now().Add(time.Hour).UnixMilli()}
}

// A grant, or its end, on one node immediately applies on the other node.
func TestGrantsAndTheirEndsApplyOnEveryNode(t *testing.T) {
	s := sharedSessions(t)
	if _, err := s[0].GrantAttendee("", "first", "Lin", grantFor("lab", "ann")); err != nil {
		t.Fatal(err)
	}
	here, _, _ := s[0].Use("first")
	if acts, ok, err := s[1].Acting(here.Family(), "lab", false, "ann"); !ok || err != nil || attendee(acts, "lab") != "ann" {
		t.Errorf("on the other node Acting returned %v, %v, %v", acts.Grants(), ok, err)
	}
	got, ok, _ := s[1].Use("first")
	if !ok || attendee(got, "lab") != "ann" {
		t.Fatalf("the other node has the grants %v, valid: %v", got.Grants(), ok)
	}
	if err := s[1].End("first"); err != nil {
		t.Fatal(err)
	}
	if err := s[0].sync(); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s[0].Use("first"); ok {
		t.Error("the session is still valid on the first node")
	}
	keys := func(s *Sessions) int {
		s.mu.RLock()
		defer s.mu.RUnlock()
		return len(s.byName)
	}
	if s[0].Len() != 0 || keys(s[0]) != 0 || keys(s[1]) != 0 {
		t.Errorf("%d, %d and %d families are kept, want none", s[0].Len(), keys(s[0]), keys(s[1]))
	}
	if err := s[0].End("first"); err != nil {
		t.Errorf("ending the session again returned %v", err)
	}
}

// A login to another account than the node's own is not accepted on that node.
func TestALoginOfAnotherAccountIsRefused(t *testing.T) {
	store, nodes := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	s := following(t, func(err error) { t.Error(err) }, nodes[0], nodes[1])
	s[1].account = []byte("another account")
	if _, err := s[0].GrantAdmin("", "first", &pb.AdminGrant{Login: "x", ExpiresAt: time.Now().Add(time.Hour).UnixMilli()}); err != nil {
		t.Fatal(err)
	}
	for node, want := range []bool{true, false} {
		if _, ok, err := s[node].Use("first"); ok != want || err != nil {
			t.Errorf("node %d: login valid: %v, %v", node, ok, err)
		}
	}
}

// If two nodes change the same sessions at the same time, both changes are kept.
func TestNodesDoNotOverwriteEachOther(t *testing.T) {
	s := sharedSessions(t)
	if _, err := s[0].GrantAttendee("", "root", "Lin", grantFor("lab", "ann")); err != nil {
		t.Fatal(err)
	}
	const each = 10
	var wg sync.WaitGroup
	for node := range s {
		wg.Go(func() {
			for i := range each {
				lab := fmt.Sprint("lab", node, i)
				if _, err := s[node].GrantAttendee("root", "id"+lab, "Lin", grantFor(lab, "ann")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for node := range s {
		if err := s[node].sync(); err != nil {
			t.Fatal(err)
		}
		got, ok, _ := s[node].Use("idlab0 0") // all grants were made concurrently
		if n := len(got.Grants()); !ok || n != 1+2*each {
			t.Errorf("node %d has %d grants", node, n)
		}
	}
}

// beaten is a store that calls a function just before the next append.
type beaten struct {
	durable.Shared
	by atomic.Pointer[func()]
}

func (b *beaten) Append(rows []durable.Row, done func(error)) error {
	if first := b.by.Swap(nil); first != nil {
		(*first)()
	}
	return b.Shared.Append(rows, done)
}

// Forgetting an attendee succeeds even if another node changes the same family concurrently. The
// other change is kept.
func TestForgettingKeepsAConcurrentChange(t *testing.T) {
	store, nodes := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	slow := &beaten{Shared: nodes[0]}
	s := following(t, func(err error) { t.Error(err) }, slow, nodes[1])
	if _, err := s[0].GrantAttendee("", "root", "Lin", grantFor("lab", "ann")); err != nil {
		t.Fatal(err)
	}
	first := func() {
		if _, err := s[1].GrantAttendee("root", "more", "Lin", grantFor("other", "bob")); err != nil {
			t.Error(err)
		}
	}
	slow.by.Store(&first)
	s[0].Forget("ann")
	for node := range s {
		if err := s[node].sync(); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"root", "more"} {
			got, ok, _ := s[node].Use(id)
			if !ok || attendee(got, "lab") != "" || id == "more" && attendee(got, "other") != "bob" {
				t.Errorf("node %d has the grants %v of %s", node, got.Grants(), id)
			}
		}
	}
}

// unreadable is a store whose rows cannot be read or written while now is set.
type unreadable struct {
	durable.Shared
	now atomic.Bool
}

func (u *unreadable) Get(table string, key []byte) ([]byte, error) {
	if u.now.Load() {
		return nil, durable.ErrFenced
	}
	return u.Shared.Get(table, key)
}

func (u *unreadable) Append(rows []durable.Row, done func(error)) error {
	if u.now.Load() {
		return durable.ErrFenced
	}
	return u.Shared.Append(rows, done)
}

// A session that another node has ended stays ended. In an earlier version, a node that had failed
// to end it, and could not read the row again, stored the session again with the next grant.
func TestAGrantAfterAFailedEndDoesNotRestoreASession(t *testing.T) {
	store, nodes := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	away := &unreadable{Shared: nodes[1]}
	s := following(t, func(error) {}, nodes[0], away)
	if _, err := s[0].GrantAttendee("", "first", "Lin", grantFor("lab", "ann")); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s[1].Use("first"); !ok {
		t.Fatal("the second node does not have the session")
	}
	away.now.Store(true)
	if err := s[1].End("first"); err == nil {
		t.Fatal("ending the session without the store succeeded")
	}
	if err := s[0].End("first"); err != nil {
		t.Fatal(err)
	}
	if err := s[1].Current(0); !errors.Is(err, durable.ErrUnavailable) {
		t.Fatalf("Current with an unreadable row returned %v, want ErrUnavailable", err)
	}
	away.now.Store(false)
	if _, err := s[1].GrantAttendee("first", "second", "Lin", grantFor("lab", "ann")); err != nil {
		t.Fatal(err)
	}
	for node := range s {
		if err := s[node].sync(); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s[node].Use("first"); ok || err != nil {
			t.Errorf("node %d accepts the ended session: %v", node, err)
		}
		if _, ok, err := s[node].Use("second"); !ok || err != nil {
			t.Errorf("node %d refuses the new session: %v", node, err)
		}
	}
}

// The feed does not repeat an end whose row could not be read, for example because the lease was
// lost. Until the row is read, the state of the session is unknown.
func TestAnUnreadableEndIsReadLater(t *testing.T) {
	store, nodes := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	away := &unreadable{Shared: nodes[1]}
	s := following(t, func(error) {}, nodes[0], away)
	if _, err := s[0].GrantAttendee("", "first", "Lin", grantFor("lab", "ann")); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s[1].Use("first"); !ok {
		t.Fatal("the second node does not have the session")
	}
	away.now.Store(true)
	if err := s[0].End("first"); err != nil {
		t.Fatal(err)
	}
	if err := s[1].Current(0); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("Current with an unreadable row returned %v, want ErrUnavailable", err)
	}
	if err := s[1].Current(MaxAge); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("a moment later Current returned %v, want ErrUnavailable", err)
	}
	away.now.Store(false)
	if err := s[1].Current(MaxAge); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s[1].Use("first"); ok {
		t.Error("the ended session is still valid")
	}
	if len(s[1].unread) > 0 {
		t.Error("the row is still marked as unread")
	}
}

// asked is a feed of a given age that counts how often the store is read.
type asked struct {
	durable.Feed
	age   time.Duration
	times int
}

func (a *asked) Age() time.Duration         { return a.age }
func (a *asked) Sync(context.Context) error { a.times++; return nil }

// A node reads sessions from the store again before it uses them if its data is as old as the
// caller's limit or MaxAge.
func TestCurrentReadsTheStoreWhenTheSessionsAreTooOld(t *testing.T) {
	for _, tc := range []struct {
		age, within time.Duration
		times       int
	}{
		{0, 0, 1}, {0, 1, 0}, {MaxAge / 2, MaxAge / 2, 1}, {MaxAge/2 - 1, MaxAge / 2, 0},
		{MaxAge - 1, MaxAge, 0}, {MaxAge, MaxAge, 1}, {MaxAge, time.Hour, 1}, {MaxAge - 1, time.Hour, 0},
	} {
		s := empty(nil, nil, clock.System.Now)
		feed := &asked{age: tc.age}
		s.feed, s.clock = feed, clock.System
		if err := s.Current(tc.within); err != nil || feed.times != tc.times {
			t.Errorf("sessions %v old, limit %v: %d reads of the store, want %d; %v", tc.age, tc.within, feed.times, tc.times, err)
		}
	}
}

// cutOff is a feed of a node that cannot reach the store.
type cutOff struct{ durable.Feed }

func (cutOff) Sync(context.Context) error { return context.DeadlineExceeded }

// A node that cannot reach the store returns ErrUnavailable for ids that it has not read. In an
// earlier version, it treated them as unknown. The caller had to log in, a logout succeeded while
// the session stayed valid, and a new grant lost the earlier ones.
func TestANodeWithoutTheStoreTreatsNoSessionAsUnknown(t *testing.T) {
	s := sharedSessions(t)
	if _, err := s[0].GrantAttendee("", "known", "Lin", grantFor("lab", "ann")); err != nil {
		t.Fatal(err)
	}
	if err := s[1].sync(); err != nil {
		t.Fatal(err)
	}
	whole := s[1].feed
	s[1].feed = cutOff{whole}
	defer func() { s[1].feed = whole }()
	if _, ok, err := s[1].Use("known"); !ok || err != nil {
		t.Errorf("a known id: valid %v, %v", ok, err)
	}
	if _, ok, err := s[1].Use("elsewhere"); ok || !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("an unknown id: valid %v, %v, want ErrUnavailable", ok, err)
	}
	if _, ok, err := s[1].Acting("elsewhere", "lab", false, "ann"); ok || !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("acting in an unknown browser: %v, %v, want ErrUnavailable", ok, err)
	}
	if err := s[1].End("elsewhere"); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("ending an unknown id: %v, want ErrUnavailable", err)
	}
	if _, err := s[1].GrantAttendee("elsewhere", "next", "Lin", grantFor("lab", "bob")); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("a grant to an unknown id: %v, want ErrUnavailable", err)
	}
	if _, err := s[1].GrantAttendee("", "first", "Lin", grantFor("lab", "bob")); err != nil {
		t.Errorf("the first grant of a browser: %v", err)
	}
}

// silent is a feed whose Sync never finishes.
type silent struct{ durable.Feed }

func (silent) Age() time.Duration             { return time.Hour }
func (silent) Sync(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func TestAnUnansweredSyncEndsByTheNodesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocktest.New()
		s := empty(nil, nil, c.Now)
		s.feed, s.clock = silent{}, c
		c.Stop()
		ended := make(chan error, 1)
		go func() { ended <- s.Current(MaxAge) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(ended) != 0 {
			t.Errorf("Current ended while the clock was stopped: %v", <-ended)
		}
		c.Continue()
		synctest.Wait()
		if len(ended) != 1 {
			t.Fatal("Current did not end when the clock ran again")
		}
		if err := <-ended; !errors.Is(err, durable.ErrUnavailable) {
			t.Error(err)
		}
	})
}
