package codelab_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/persistence/memory"
)

// rehearsed starts a rehearsal of three minutes with one attendee, who requests help.
func rehearsed(t *testing.T, labs *codelab.Codelabs) string {
	t.Helper()
	m, err := labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "one"}, Steps: []*pb.Step{{Title: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := labs.Get(m.Id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ws.StartRehearsal(leader, codelab.StartRehearsal{People: 1, Minutes: 3}); err != nil {
		t.Fatal(err)
	}
	v, _, err := ws.Ask(codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleSystem}, Body: codelab.Register{Name: "Ann", Simulated: true}})
	if err != nil {
		t.Fatal(err)
	}
	a := v.(codelab.Registration).Attendee
	if _, _, err := ws.Ask(codelab.Command{Caller: &codelab.Caller{Role: codelab.RoleAttendee, ID: a.Id}, Body: codelab.AskHelp{StepNumber: 1}}); err != nil {
		t.Fatal(err)
	}
	return m.Id
}

// played configures players of rehearsals that run until they are stopped. n counts the running
// ones.
func played(n *atomic.Int32) func(*codelab.Config) {
	return func(cfg *codelab.Config) {
		cfg.Rehearse = func(ctx context.Context, _ codelab.Codelab) {
			n.Add(1)
			<-ctx.Done()
			n.Add(-1)
		}
	}
}

// left returns how many attendees and help requests a codelab has, and whether a rehearsal runs in
// it. It verifies that the list also reports whether a rehearsal runs.
func left(t *testing.T, labs *codelab.Codelabs, id string) (n int, runs bool) {
	t.Helper()
	ws, err := labs.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	v := ws.View()
	if listed := labs.List.Known(id).Rehearsal != nil; listed != (v.Meta.Rehearsal != nil) {
		t.Error("the list disagrees whether a rehearsal runs:", listed)
	}
	return v.Attendees.Len() + v.Help.Len(), v.Meta.Rehearsal != nil
}

func TestARehearsalEndsAtTheSetTime(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		var players atomic.Int32
		labs := oneNode(t, store, played(&players))
		defer closed(t, labs)
		id := rehearsed(t, labs)
		time.Sleep(3*time.Minute - time.Second)
		if n, runs := left(t, labs, id); n != 2 || !runs || players.Load() != 1 {
			t.Errorf("before the end: %d items left, running %v, %d players; want 2 items, running true, 1 player", n, runs, players.Load())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n, runs := left(t, labs, id); n != 0 || runs || players.Load() != 0 {
			t.Errorf("after the end: %d items left, running %v, %d players", n, runs, players.Load())
		}
	})
}

// After a restart the first read ends the rehearsal. If nobody reads the codelab, the hourly
// retention run ends the rehearsal.
func TestARestartEndsARehearsal(t *testing.T) {
	for name, reads := range map[string]bool{"read by somebody": true, "read by nobody": false} {
		t.Run(name, func(t *testing.T) {
			clocktest.Bubble(t, func(t *testing.T) {
				store := memory.New()
				defer func() { _ = store.Close() }()
				var players atomic.Int32
				labs := oneNode(t, store, played(&players))
				id := rehearsed(t, labs)
				closed(t, labs)
				if players.Load() != 0 {
					t.Error("a player still runs the rehearsal")
				}
				time.Sleep(time.Millisecond)
				labs = oneNode(t, store, played(&players))
				defer closed(t, labs)
				if !reads {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					go labs.Retain(ctx, time.Hour, codelab.Expiry{})
					synctest.Wait()
					if m := labs.List.Known(id); m.Rehearsal != nil {
						t.Error("the list still has the rehearsal")
					}
				}
				if n, runs := left(t, labs, id); n != 0 || runs {
					t.Errorf("%d items left, running %v", n, runs)
				}
			})
		})
	}
}

// A read after the end waits until the end is stored, even if the host has already begun to end the
// rehearsal.
func TestNoReadShowsARehearsalAfterItsEnd(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		var players atomic.Int32
		labs := oneNode(t, store, played(&players))
		defer closed(t, labs)
		id := rehearsed(t, labs)
		time.Sleep(3*time.Minute - time.Second)
		release := store.Hold()
		time.Sleep(time.Second)
		synctest.Wait() // the end is in the store's queue
		shown := make(chan bool, 1)
		go func() {
			ws, err := labs.Get(id)
			shown <- err != nil || ws.View().Meta.Rehearsal != nil
		}()
		synctest.Wait()
		release()
		if <-shown {
			t.Error("the read shows the rehearsal")
		}
	})
}

func TestTheNumberOfRehearsalsIsBounded(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		var players atomic.Int32
		labs := oneNode(t, store, played(&players))
		defer closed(t, labs)
		for range 20 {
			rehearsed(t, labs)
		}
		m, err := labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "one more"}})
		if err != nil {
			t.Fatal(err)
		}
		ws, err := labs.Get(m.Id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ws.StartRehearsal(leader, codelab.StartRehearsal{People: 1, Minutes: 3}); err == nil {
			t.Error("one rehearsal too many was started")
		}
		synctest.Wait() // waits until each rehearsal has a player
		if players.Load() != 20 {
			t.Error(players.Load(), "rehearsals have players")
		}
	})
}

// Without force, a rehearsal does not start while people are present.
func TestARehearsalDoesNotStartWhilePeopleArePresent(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		labs := oneNode(t, store)
		defer closed(t, labs)
		m, err := labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "one"}})
		if err != nil {
			t.Fatal(err)
		}
		ws, err := labs.Get(m.Id)
		if err != nil {
			t.Fatal(err)
		}
		ws.Room.Join(codelab.FacilitatorID)
		ws.Room.Join("somebody")
		start := codelab.StartRehearsal{People: 1, Minutes: 3}
		if _, err := ws.StartRehearsal(leader, start); err == nil {
			t.Error("a rehearsal started while somebody is present")
		}
		start.Force = true
		if _, err := ws.StartRehearsal(leader, start); err != nil {
			t.Error("a forced rehearsal:", err)
		}
	})
}

// closed closes codelabs in a bubble. After a message to a stopped actor, the actor library runs a
// goroutine for a millisecond. closed waits for it, because the bubble must not end first.
func closed(t *testing.T, labs *codelab.Codelabs) {
	_ = labs.Close(t.Context())
	time.Sleep(2 * time.Millisecond)
}
