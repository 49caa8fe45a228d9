package codelab_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/memory"
)

// A codelab rests when nobody asks for it and nobody is connected: who only listens
// keeps it.
func TestACodelabWithListenersDoesNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		labs := oneNode(t, store)
		defer func() { _ = labs.Close(t.Context()) }()
		m, err := labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "one", IsPublic: true}, Steps: []*pb.Step{{Title: "a", ContentMarkdown: "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		ws, err := labs.Get(m.Id)
		if err != nil {
			t.Fatal(err)
		}
		ws.Room.Join("somebody")
		time.Sleep(time.Hour)
		if len(labs.Active()) != 1 {
			t.Error("it rests although somebody listens")
		}
		ws.Room.Leave("somebody")
		time.Sleep(time.Hour)
		if len(labs.Active()) != 0 {
			t.Error("it does not rest although nobody uses it")
		}
	})
}

// oneNode starts a node that stands alone. Its codelabs rest after a minute.
func oneNode(t *testing.T, store *memory.Store) *codelab.Workshops {
	t.Helper()
	list, err := catalog.LoadList(store)
	if err != nil {
		t.Fatal(err)
	}
	labs, err := codelab.NewWorkshops(codelab.Config{
		System: durable.NewSystem(), Journal: store, List: list, Frames: noFrames{},
		Files:   files.NewRegister(store, noBlobs{}, time.Hour, clock.System.Now),
		Durable: durable.Options{IdleAfter: time.Minute}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return labs
}
