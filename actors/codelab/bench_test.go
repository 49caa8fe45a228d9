package codelab_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"atelier/actors/catalog"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/room"
	"atelier/persistence/badger"
)

// noFrames encodes no events.
type noFrames struct{}

func (noFrames) Encode(seq uint64, e *pb.Event) (room.Frame, bool) { return room.Frame{}, false }

// BenchmarkDurableCommands measures progress commands that codelab actors write to disk. Each
// caller sends its next command after the reply to its last one.
func BenchmarkDurableCommands(b *testing.B) {
	for _, c := range []struct{ labs, callers int }{{1, 64}, {64, 512}} {
		b.Run(fmt.Sprintf("actors=%d/callers=%d", c.labs, c.callers), func(b *testing.B) {
			store, err := badger.Open(badger.Options{Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			list, err := catalog.LoadList(store)
			if err != nil {
				b.Fatal(err)
			}
			ws, err := codelab.NewCodelabs(codelab.Config{
				System: durable.NewSystem(), Journal: store, List: list, Frames: noFrames{},
				Files:  files.NewRegister(store, nil, time.Hour, time.Now),
				Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				b.Fatal(err)
			}
			defer ws.Close(context.Background())
			admin := &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID}
			type caller struct {
				codelab.Codelab
				*codelab.Caller
			}
			var callers []caller
			for i := range c.labs {
				m, err := ws.Create(admin, &codelab.Create{
					Codelab: &pb.Codelab{Title: fmt.Sprint("Lab ", i), IsPublic: true},
					Steps:   []*pb.Step{{Title: "1"}, {Title: "2"}, {Title: "3"}},
				})
				if err != nil {
					b.Fatal(err)
				}
				w, err := ws.Get(m.Id)
				if err != nil {
					b.Fatal(err)
				}
				for j := range c.callers / c.labs {
					r, _, err := w.Ask(codelab.Command{Caller: admin, Body: codelab.Register{Name: fmt.Sprint("P", j)}})
					if err != nil {
						b.Fatal(err)
					}
					callers = append(callers, caller{w, &codelab.Caller{Role: codelab.RoleAttendee, ID: r.(codelab.Registration).Attendee.Id}})
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for _, cl := range callers {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := range b.N/len(callers) + 1 {
						_, _, err := cl.Ask(codelab.Command{Caller: cl.Caller, Body: codelab.Progress{StepNumber: int32(i%3) + 1}})
						if err != nil {
							b.Error(err)
							return
						}
					}
				}()
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}
