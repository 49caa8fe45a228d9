package codelab_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/actors/files"
	"atelier/persistence/memory"
)

// slow is a node that comes too late to remove what it has let go of.
type slow struct {
	durable.Shared
	taken func() // waits until another has it
}

func (s slow) Purge(actor string) error {
	s.taken()
	return &durable.Owned{Actor: actor, Node: "n2"}
}

// noBlobs holds nothing.
type noBlobs struct{ files.Blobs }

func (noBlobs) Discard(files.InUse, ...files.Sum) error { return nil }

// A deleted codelab leaves nothing, also when a node that has a copy takes it
// over before its log is removed. It stayed until some node started.
func TestADeletedCodelabIsRemovedByWhoTookIt(t *testing.T) {
	store, nodes := memory.Share(2)
	defer store.Close()
	net := bustest.NewNet()
	var ws [2]*codelab.Workshops
	id := ""
	for i, n := range nodes {
		bus, stop := net.Node(n.Node())
		defer stop()
		var shared durable.Shared = n
		if i == 0 {
			shared = slow{n, func() {
				for node, err := "", error(nil); node != "n2" && err == nil; {
					node, err = n.Owner("codelab/" + id)
				}
			}}
		}
		list, err := catalog.FollowList(shared, clock.System, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		defer list.Close()
		ws[i], err = codelab.NewWorkshops(codelab.Config{
			System: durable.NewSystem(), Journal: shared, List: list, Frames: noFrames{},
			Files: files.NewRegister(shared, noBlobs{}, time.Hour, time.Now), Logger: slog.New(slog.DiscardHandler),
			Durable: durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: shared, Bus: bus, Beat: time.Millisecond, Patience: 20 * time.Millisecond}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer ws[i].Close(context.Background())
	}
	admin := &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID}
	m, err := ws[0].Create(admin, &codelab.Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true}})
	if err != nil {
		t.Fatal(err)
	}
	id = m.Id
	if _, err := ws[1].Get(id); err != nil {
		t.Fatal(err)
	}
	if err := ws[0].Delete(admin, id); err != nil {
		t.Fatal(err)
	}
	logs := func() (n int) {
		if err := nodes[0].Actors("codelab/", func(string) bool { n++; return true }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for deadline := time.Now().Add(10 * time.Second); logs() > 0; {
		if time.Now().After(deadline) {
			t.Fatal("its log is still there")
		}
		ws[1].Compare([]string{"n1", "n2"})
	}
}
