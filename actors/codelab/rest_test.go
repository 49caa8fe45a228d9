package codelab_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/memory"
)

// A codelab goes to rest when nobody requests it and nobody is connected. A connected person keeps
// the codelab in memory, even if this person only listens.
func TestACodelabWithListenersDoesNotRest(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		labs := oneNode(t, store)
		defer closed(t, labs)
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
			t.Error("the codelab rests although somebody is connected")
		}
		ws.Room.Leave("somebody")
		time.Sleep(time.Hour)
		if len(labs.Active()) != 0 {
			t.Error("the codelab does not rest although nobody uses it")
		}
	})
}

// In an earlier version, nobody could read a codelab whose poll was due while the disk refused
// writes. Closing a poll frees space, so it succeeds on a full disk.
func TestAPollThatCannotBeClosedDoesNotBlockReaders(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		var full, away atomic.Bool
		labs := oneNode(t, store, func(cfg *codelab.Config) {
			cfg.Durable.Gate = func() error {
				if full.Load() {
					return durable.ErrReadOnly
				}
				return nil
			}
			cfg.Rules.BallotKey = func(string) []byte {
				if away.Load() {
					return nil
				}
				return make([]byte, 32)
			}
			cfg.Rules.BallotLost = func(string, []string) bool { return !away.Load() }
			cfg.Ballots = noSecrets{}
		})
		defer closed(t, labs)
		m, err := labs.Create(leader, &codelab.Create{
			Codelab: &pb.Codelab{Title: "one"}, Steps: []*pb.Step{{Title: "a"}},
			Polls: []*pb.Poll{{Kind: codelab.PollKind("words"), Question: "One word?", Anonymous: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ws, err := labs.Get(m.Id)
		if err != nil {
			t.Fatal(err)
		}
		seconds := int32(5)
		if _, err := ws.OpenPoll(leader, ws.View().Polls[0].Id, &seconds); err != nil {
			t.Fatal(err)
		}
		away.Store(true)
		time.Sleep(6 * time.Second)
		if ws, err = labs.Get(m.Id); err != nil || !ws.View().Polls[0].Counting {
			t.Fatalf("while the secret is missing: %v", err)
		}
		full.Store(true)
		away.Store(false)
		if ws, err = labs.Get(m.Id); err != nil || ws.View().Polls[0].Counting || ws.View().Polls[0].Void {
			t.Errorf("on a full disk: %v", err)
		}
	})
}

// noSecrets makes secrets that are stored nowhere.
type noSecrets struct{}

func (noSecrets) Make(lab string) (string, []string, error) { return lab + ".0", nil, nil }
func (noSecrets) Destroy(string)                            {}
func (noSecrets) Old() []string                             { return nil }

// oneNode starts a single server. Its codelabs rest after a minute.
func oneNode(t *testing.T, store *memory.Store, changes ...func(*codelab.Config)) *codelab.Codelabs {
	t.Helper()
	list, err := catalog.LoadList(store)
	if err != nil {
		t.Fatal(err)
	}
	cfg := codelab.Config{
		System: durable.NewSystem(), Journal: store, List: list, Frames: noFrames{},
		Files:   files.NewRegister(store, noBlobs{}, time.Hour, clock.System.Now),
		Durable: durable.Options{IdleAfter: time.Minute}, Logger: slog.New(slog.DiscardHandler),
	}
	for _, change := range changes {
		change(&cfg)
	}
	labs, err := codelab.NewCodelabs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return labs
}
