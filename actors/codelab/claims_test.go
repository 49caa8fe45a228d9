package codelab_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
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

// answers receives the reply to a submitted command.
type answers chan durable.Reply

func (a answers) Reply(r durable.Reply) { a <- r }

// A command that mentions an upload claims it until the command is recorded, even if the caller no
// longer waits. In an earlier version, messages over WebSocket claimed nothing, and an unknown
// outcome ended the claim.
func TestAnUploadStaysWhileACommandRefersToIt(t *testing.T) {
	for name, send := range map[string]func(codelab.Codelab, codelab.Command) error{
		"asked": func(ws codelab.Codelab, cmd codelab.Command) error {
			_, _, err := ws.Ask(cmd)
			return err
		},
		"submitted": func(ws codelab.Codelab, cmd codelab.Command) error {
			to := make(answers, 1)
			if err := ws.Submit(cmd, to); err != nil {
				return err
			}
			return (<-to).Err
		},
	} {
		for outcome, held := range map[string]time.Duration{"known": time.Second, "unknown": time.Minute} {
			t.Run(name+", outcome "+outcome, func(t *testing.T) {
				clocktest.Bubble(t, func(t *testing.T) { claimed(t, send, held) })
			})
		}
	}
}

// claimed sends a command with an upload while the store is blocked. After the duration held, it
// drops the upload and unblocks the store.
func claimed(t *testing.T, send func(codelab.Codelab, codelab.Command) error, held time.Duration) {
	store := memory.New()
	defer func() { _ = store.Close() }()
	ws, register := oneLab(t, store, store, 0)
	u := &pb.Upload{Name: files.NewName(files.Images, "png"), Sum: make([]byte, 32)}
	if err := register.Add(u); err != nil {
		t.Fatal(err)
	}

	release := store.Hold()
	sent, dropped := make(chan error, 1), make(chan error, 1)
	go func() { sent <- send(ws, mentioning(u.Name)) }()
	time.Sleep(held) // in simulated time
	go func() { dropped <- register.Drop(u.Name) }()
	synctest.Wait()
	release()
	if err := <-sent; err != nil && !errors.Is(err, durable.ErrTimeout) {
		t.Fatal(err)
	}
	if err := <-dropped; err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if ws.View().Chat.Len() != 1 {
		t.Fatal("the message was not recorded")
	}
	if _, err := register.Get(u.Name); err != nil {
		t.Errorf("the upload that a message mentions is dropped: %v", err)
	}
	time.Sleep(time.Hour)
	if _, _, err := ws.Ask(codelab.Command{Caller: leader, Body: codelab.DeleteChat{MessageID: ws.View().Chat.At(0).Id}}); err != nil {
		t.Fatal(err)
	}
	if err := register.Drop(u.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := register.Get(u.Name); !errors.Is(err, files.ErrMissing) {
		t.Errorf("the upload is still claimed: %v", err)
	}
}

var leader = &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID}

func mentioning(upload string) codelab.Command {
	return codelab.Command{Caller: leader, Body: codelab.PostChat{Message: files.Folder + upload}}
}

// oneLab creates a codelab, and a register over the journal uploads. atOnce is the maximum number
// of commands in progress. 0 means the default.
func oneLab(t *testing.T, store *memory.Store, uploads durable.Journal, atOnce int) (codelab.Codelab, *files.Register) {
	t.Helper()
	list, err := catalog.LoadList(store)
	if err != nil {
		t.Fatal(err)
	}
	register := files.NewRegister(uploads, noBlobs{}, time.Hour, clock.System.Now)
	labs, err := codelab.NewCodelabs(codelab.Config{
		System: durable.NewSystem(), Journal: store, List: list, Frames: noFrames{}, Files: register,
		Durable: durable.Options{IdleAfter: -1, MaxPending: atOnce}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = labs.Close(context.Background()) })
	m, err := labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "one", IsPublic: true}})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := labs.Get(m.Id)
	if err != nil {
		t.Fatal(err)
	}
	return ws, register
}

// A caller that looked up a codelab just before its deletion gets errGone. In an earlier version,
// the caller got an error that asks for a retry.
func TestACommandToAJustDeletedCodelabReturnsMissing(t *testing.T) {
	store := memory.New()
	defer func() { _ = store.Close() }()
	list, err := catalog.LoadList(store)
	if err != nil {
		t.Fatal(err)
	}
	labs, err := codelab.NewCodelabs(codelab.Config{
		System: durable.NewSystem(), Journal: store, List: list, Frames: noFrames{},
		Files:   files.NewRegister(store, noBlobs{}, time.Hour, clock.System.Now),
		Durable: durable.Options{IdleAfter: -1}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = labs.Close(context.Background()) }()
	m, err := labs.Create(leader, &codelab.Create{Codelab: &pb.Codelab{Title: "one", IsPublic: true}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := labs.Get(m.Id)
	if err != nil {
		t.Fatal(err)
	}
	if err := labs.Delete(leader, m.Id); err != nil {
		t.Fatal(err)
	}
	if _, _, err := found.Ask(codelab.Command{Caller: leader, Body: codelab.Update{Title: new("two")}}); !durable.IsMissing(err) {
		t.Errorf("a command to a deleted codelab returned %v, want Missing", err)
	}
}

// stuck is a journal in which reads of uploads block until the channel closes, and then fail.
type stuck struct {
	durable.Journal
	until chan struct{}
}

func (s stuck) Get(table string, key []byte) ([]byte, error) {
	if table == "uploads" {
		<-s.until
		return nil, durable.ErrUnavailable
	}
	return s.Journal.Get(table, key)
}

// The number of submitted commands that wait for their claims is bounded, and each gets a reply.
func TestCommandsWaitingForTheirClaimsAreBounded(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		s := stuck{store, make(chan struct{})}
		ws, _ := oneLab(t, store, s, 0)
		cmd := mentioning(files.NewName(files.Images, "png"))
		const most = 1000
		to := make(answers, most)
		sent, err := 0, error(nil)
		for ; err == nil && sent < most; sent++ {
			err = ws.Submit(cmd, to)
		}
		if !errors.Is(err, durable.ErrBusy) {
			t.Fatalf("%d commands were submitted, the last returned %v, want ErrBusy", sent, err)
		}
		close(s.until)
		synctest.Wait()
		for range sent - 1 {
			if r := <-to; !errors.Is(r.Err, durable.ErrUnavailable) {
				t.Fatalf("a waiting command is answered with %v, want ErrUnavailable", r.Err)
			}
		}
		if err := ws.Submit(cmd, to); err != nil {
			t.Errorf("after all commands are answered, the next returned %v", err)
		}
	})
}

// A command that is refused because too many others wait leaves no claim.
func TestARefusedCommandLeavesNoClaim(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		ws, register := oneLab(t, store, store, 1)
		u := &pb.Upload{Name: files.NewName(files.Images, "png"), Sum: make([]byte, 32)}
		if err := register.Add(u); err != nil {
			t.Fatal(err)
		}
		release := store.Hold()
		first, second := make(answers, 1), make(answers, 1)
		if err := ws.Submit(codelab.Command{Caller: leader, Body: codelab.PostChat{Message: "first"}}, first); err != nil {
			t.Fatal(err)
		}
		if err := ws.Submit(mentioning(u.Name), second); err != nil {
			t.Fatal(err)
		}
		if r := <-second; !errors.Is(r.Err, durable.ErrBusy) {
			t.Fatalf("the command is answered with %v, want ErrBusy", r.Err)
		}
		release()
		<-first
		synctest.Wait()
		if err := register.Drop(u.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := register.Get(u.Name); !errors.Is(err, files.ErrMissing) {
			t.Errorf("the upload is still claimed: %v", err)
		}
	})
}

// If the codelab refuses a command, the command's claim ends immediately.
func TestARejectedCommandLeavesNoClaim(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		store := memory.New()
		defer func() { _ = store.Close() }()
		ws, register := oneLab(t, store, store, 0)
		u := &pb.Upload{Name: files.NewName(files.Images, "png"), Sum: make([]byte, 32)}
		if err := register.Add(u); err != nil {
			t.Fatal(err)
		}
		cmd := mentioning(u.Name)
		cmd.Caller = &codelab.Caller{Role: codelab.RoleAttendee, ID: "nobody"}
		if _, _, err := ws.Ask(cmd); !durable.Refused(err) {
			t.Fatal(err)
		}
		if err := register.Drop(u.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := register.Get(u.Name); !errors.Is(err, files.ErrMissing) {
			t.Errorf("the upload is still claimed: %v", err)
		}
	})
}
