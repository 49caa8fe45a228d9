package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	pb "atelier/actors/codelab/codelabpb"

	"atelier/actors/codelab"
	"atelier/cmd/atelier/config"
)

// BenchmarkRestartAfterKill measures the time to open the store and load a codelab after SIGKILL.
// The codelab has 10,000 attendees and a million events, mostly chat.
func BenchmarkRestartAfterKill(b *testing.B) {
	const people, messages = 10_000, 1_000_000
	log := slog.New(slog.DiscardHandler)
	cfg := config.Default()
	cfg.Server.Data = b.TempDir()
	cfg.Storage.IdleAfter = config.Duration(24 * time.Hour)
	core, err := OpenCore(cfg, Hooks{}, Options{}, log)
	if err != nil {
		b.Fatal(err)
	}
	admin := &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, Name: "Facilitator"}
	made, err := core.codelabs.Create(admin, &codelab.Create{
		Codelab: &pb.Codelab{Title: "Large", IsPublic: true}, Steps: []*pb.Step{{Title: "1"}, {Title: "2"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	lab, err := core.codelabs.Get(made.Id)
	if err != nil {
		b.Fatal(err)
	}
	callers := make([]*codelab.Caller, people)
	var wg sync.WaitGroup
	each := func(n int, do func(i int) error) {
		for w := range 64 {
			wg.Go(func() {
				for i := w; i < n; i += 64 {
					if err := do(i); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	each(people, func(i int) error {
		r, _, err := lab.Ask(codelab.Command{Caller: admin, Body: codelab.Register{Name: fmt.Sprint("Person ", i)}})
		if err == nil {
			a := r.(codelab.Registration).Attendee
			callers[i] = &codelab.Caller{Role: codelab.RoleAttendee, ID: a.Id, Name: a.Name, Person: a.Id}
		}
		return err
	})
	each(messages, func(i int) error {
		_, _, err := lab.Ask(codelab.Command{
			Caller: callers[i%people], Ref: fmt.Sprint(i),
			Body: codelab.PostChat{Message: fmt.Sprintf("message %d, about as long as people write in a workshop", i)},
		})
		return err
	})
	killed := b.TempDir()
	// A compaction can remove a file while the folder is copied.
	for err = copyTree(cfg.Server.Data, killed); errors.Is(err, fs.ErrNotExist); err = copyTree(cfg.Server.Data, killed) {
		killed = b.TempDir()
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := core.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		c := cfg
		c.Server.Data = b.TempDir()
		if err := copyTree(killed, c.Server.Data); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		core, err := OpenCore(c, Hooks{}, Options{}, log)
		if err != nil {
			b.Fatal(err)
		}
		lab, err := core.codelabs.Get(made.Id)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		v, seq := lab.ViewAt()
		if seq < messages || v.Attendees.Len() != people {
			b.Fatalf("recovered up to position %d with %d people", seq, v.Attendees.Len())
		}
		_ = core.Close(context.Background())
		b.StartTimer()
	}
}

// copyTree copies a folder tree. It does not write blocks of zeros, so holes at the end of the
// store's files stay holes.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		name, _ := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !e.Type().IsRegular():
			return nil
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(filepath.Join(to, name))
		if err != nil {
			return err
		}
		buf, zero := make([]byte, 64<<10), make([]byte, 64<<10)
		for at := int64(0); ; {
			n, err := in.Read(buf)
			if n > 0 && string(buf[:n]) != string(zero[:n]) {
				if _, err := out.WriteAt(buf[:n], at); err != nil {
					return err
				}
			}
			if at += int64(n); err == io.EOF {
				if err := out.Truncate(at); err != nil {
					return err
				}
				return out.Close()
			}
		}
	})
}
