package codelab_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/actors/files"
	"atelier/persistence/memory"
)

// slow is a node whose Purge is always too late: it waits until another node owns the actor, and
// then fails.
type slow struct {
	durable.Shared
	taken func() // waits until another node owns the actor
}

func (s slow) Purge(actor string) error {
	s.taken()
	return &durable.Owned{Actor: actor, Node: "n2"}
}

// noBlobs contains nothing.
type noBlobs struct{ files.Blobs }

func (noBlobs) Discard(files.InUse, ...files.Sum) error { return nil }

// clusterOfTwo starts two nodes on one store; around wraps the first node's store.
func clusterOfTwo(t *testing.T, around func(durable.Shared) durable.Shared) (ws [2]*codelab.Codelabs, nodes []*memory.Node) {
	store, nodes := memory.Share(2)
	t.Cleanup(func() { _ = store.Close() })
	net := bustest.NewNet()
	for i, n := range nodes {
		bus, stop := net.Node(n.Node())
		t.Cleanup(stop)
		var shared durable.Shared = n
		if i == 0 {
			shared = around(n)
		}
		list, err := catalog.FollowList(shared, clock.System, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(list.Close)
		ws[i], err = codelab.NewCodelabs(codelab.Config{
			System: durable.NewSystem(), Journal: shared, List: list, Frames: noFrames{},
			Files: files.NewRegister(shared, noBlobs{}, time.Hour, time.Now), Logger: slog.New(slog.DiscardHandler),
			Durable: durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: shared, Bus: bus, Beat: time.Millisecond, OwnerTimeout: 20 * time.Millisecond}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ws[i].Close(context.Background()) })
	}
	return ws, nodes
}

// A deleted codelab leaves no data, even if a node with a replica takes it over before its log is
// removed. In an earlier version, the log stayed until the next start of a node.
func TestTheNewOwnerRemovesADeletedCodelab(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		id := ""
		ws, nodes := clusterOfTwo(t, func(first durable.Shared) durable.Shared {
			return slow{first, func() {
				for node, err := "", error(nil); node != "n2" && err == nil; time.Sleep(time.Millisecond) {
					node, err = first.Owner("codelab/" + id)
				}
			}}
		})
		m, err := ws[0].Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true}})
		if err != nil {
			t.Fatal(err)
		}
		id = m.Id
		if _, err := ws[1].Get(id); err != nil {
			t.Fatal(err)
		}
		if err := ws[0].Delete(leader, id); err != nil {
			t.Fatal(err)
		}
		logs := func() (n int) {
			if err := nodes[0].Actors("codelab/", func(string) bool { n++; return true }); err != nil {
				t.Fatal(err)
			}
			return n
		}
		for deadline := time.Now().Add(time.Minute); logs() > 0; {
			if time.Now().After(deadline) {
				t.Fatal("the log of the deleted codelab is still there")
			}
			ws[1].Compare([]string{"n1", "n2"})
			time.Sleep(time.Millisecond)
		}
	})
}

// onBoth creates a codelab on the first node and opens it on both.
func onBoth(t *testing.T, ws [2]*codelab.Codelabs) (at [2]codelab.Codelab) {
	t.Helper()
	m, err := ws[0].Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range ws {
		if at[i], err = ws[i].Get(m.Id); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// People connected to a live node count as present; people connected to a dead node do not.
func TestThePeopleOfADeadNodeAreNotPresent(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		ws, _ := clusterOfTwo(t, func(first durable.Shared) durable.Shared { return first })
		at := onBoth(t, ws)
		at[0].Room.Join("here")
		at[1].Room.Join("there")
		synctest.Wait()
		for _, step := range []struct {
			alive []string
			there bool
		}{{[]string{"n1", "n2"}, true}, {[]string{"n1"}, false}} {
			ws[0].Compare(step.alive)
			if r := at[0].Room; r.IsPresent("there") != step.there || !r.IsPresent("here") {
				t.Errorf("with the live nodes %v, %v are present", step.alive, r.Present())
			}
		}
	})
}

// After the response to a deletion, the store contains no log of the codelab, even before the
// sweep of the next start. The logs of other codelabs stay.
func TestADeletionRemovesTheLog(t *testing.T) {
	store := memory.New()
	defer func() { _ = store.Close() }()
	labs := oneNode(t, store)
	defer func() { _ = labs.Close(t.Context()) }()
	var ids []string
	for range 2 {
		m, err := labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.Id)
	}
	if err := labs.Delete(leader, ids[0]); err != nil {
		t.Fatal(err)
	}
	var left []string
	if err := store.Actors("codelab/", func(name string) bool { left = append(left, name); return true }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(left, []string{"codelab/" + ids[1]}) {
		t.Errorf("the store has the logs %v, want only that of %s", left, ids[1])
	}
}

// Facilitators on every node are informed of arrivals and departures, even while the codelab moves
// to another node. In an earlier version, only the owner announced these, so a departure during the
// move was missed.
func TestEveryNodeAnnouncesArrivalsAndDeparturesDuringAMove(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		ws, nodes := clusterOfTwo(t, func(first durable.Shared) durable.Shared { return first })
		var mu sync.Mutex
		var announced [2][]string
		for i := range ws {
			ws[i].Announce = func(w codelab.Codelab, person string, arrived bool) {
				kind := "-"
				if arrived {
					kind = "+"
				}
				mu.Lock()
				defer mu.Unlock()
				announced[i] = append(announced[i], kind+w.View().Attendee(person).GetName())
			}
		}
		at := onBoth(t, ws)
		r, _, err := at[0].Ask(codelab.Command{Caller: leader, Body: codelab.Register{Name: "Ann"}})
		if err != nil {
			t.Fatal(err)
		}
		ann := r.(codelab.Registration).Attendee.Id
		at[1].Arrive(ann) // possibly before this node's replica contains her record
		time.Sleep(time.Second)
		at[1].Depart(ann)
		ws[0].GiveTo(at[0], "n2")
		for owner := ""; owner != "n2"; time.Sleep(time.Millisecond) {
			if owner, err = nodes[0].Owner("codelab/" + at[0].ID()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		for i, got := range announced {
			if !slices.Equal(got, []string{"+Ann", "-Ann"}) {
				t.Errorf("node %d announced %v, want the arrival and the departure", i+1, got)
			}
		}
	})
}
