package codelab_test

import (
	"errors"
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

// answers take the answer to a command that was submitted.
type answers chan durable.Reply

func (a answers) Reply(r durable.Reply) { a <- r }

// A command that mentions an upload claims it until the command is recorded, also if
// nobody waits for that any more. Messages over WebSocket claimed nothing, and an
// unknown outcome ended the claim.
func TestAnUploadStaysWhileACommandRefersToIt(t *testing.T) {
	for name, say := range map[string]func(codelab.Workshop, codelab.Command) error{
		"asked": func(ws codelab.Workshop, cmd codelab.Command) error {
			_, _, err := ws.Ask(cmd)
			return err
		},
		"submitted": func(ws codelab.Workshop, cmd codelab.Command) error {
			to := make(answers, 1)
			if err := ws.Submit(cmd, to); err != nil {
				return err
			}
			return (<-to).Err
		},
	} {
		for outcome, patience := range map[string]time.Duration{"known": time.Second, "unknown": time.Minute} {
			t.Run(name+", outcome "+outcome, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { claimed(t, say, patience) })
			})
		}
	}
}

// claimed lets a command wait for the store so long, while its upload is dropped.
func claimed(t *testing.T, say func(codelab.Workshop, codelab.Command) error, held time.Duration) {
	store := memory.New()
	defer func() { _ = store.Close() }()
	list, err := catalog.LoadList(store)
	if err != nil {
		t.Fatal(err)
	}
	register := files.NewRegister(store, noBlobs{}, time.Hour, clock.System.Now)
	labs, err := codelab.NewWorkshops(codelab.Config{
		System: durable.NewSystem(), Journal: store, List: list, Frames: noFrames{}, Files: register,
		Durable: durable.Options{IdleAfter: -1}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = labs.Close(t.Context()) }()
	admin := &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID}
	m, err := labs.Create(admin, &codelab.Create{Codelab: &pb.Codelab{Title: "one", IsPublic: true}})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := labs.Get(m.Id)
	if err != nil {
		t.Fatal(err)
	}
	u := &pb.Upload{Name: files.NewName(files.Images, "png"), Sum: make([]byte, 32)}
	if err := register.Add(u); err != nil {
		t.Fatal(err)
	}

	release := store.Hold()
	said, dropped := make(chan error, 1), make(chan error, 1)
	go func() {
		said <- say(ws, codelab.Command{Caller: admin, Body: codelab.PostChat{Message: files.Folder + u.Name}})
	}()
	time.Sleep(held) // simulated
	go func() { dropped <- register.Drop(u.Name) }()
	synctest.Wait()
	release()
	if err := <-said; err != nil && !errors.Is(err, durable.ErrTimeout) {
		t.Fatal(err)
	}
	if err := <-dropped; err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if ws.View().Chat.Len() != 1 {
		t.Fatal("the message is not recorded")
	}
	if _, err := register.Get(u.Name); err != nil {
		t.Errorf("a message mentions the upload: %v", err)
	}
	time.Sleep(time.Hour)
	if _, _, err := ws.Ask(codelab.Command{Caller: admin, Body: codelab.DeleteChat{MessageID: ws.View().Chat.At(0).Id}}); err != nil {
		t.Fatal(err)
	}
	if err := register.Drop(u.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := register.Get(u.Name); !errors.Is(err, files.ErrMissing) {
		t.Errorf("its claims have not ended: %v", err)
	}
}
