package codelab_test

import (
	"bytes"
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

// opened is a node that calls its function then each time it follows a log.
type opened struct {
	durable.Shared
	then func(actor string)
}

func (o opened) Follow(actor string) (durable.Reader, error) {
	log, err := o.Shared.Follow(actor)
	o.then(actor)
	return log, err
}

// A node that starts compares the logs with the list, which other nodes change meanwhile. In an
// earlier version, a log that was only briefly unlisted was logged as an error.
func TestASweepReportsOnlyLogsThatStayUnlisted(t *testing.T) {
	for name, tc := range map[string]struct {
		owned  bool // the other node has the log
		listed bool // the row is there after the log was read
		errors int
	}{
		"never listed": {errors: 1}, "listed meanwhile": {listed: true}, "another node has it": {owned: true},
	} {
		t.Run(name, func(t *testing.T) {
			store, nodes := memory.Share(2)
			defer store.Close()
			id := "0190a000-0000-7000-8000-000000000000"
			log, err := nodes[0].Open("codelab/" + id)
			if err != nil {
				t.Fatal(err)
			}
			record, err := durable.AppendMessage(nil, &pb.Event{Body: &pb.Event_Created{Created: &pb.Created{Codelab: &pb.Codelab{Id: id}}}})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			if err := log.Append(durable.Batch{First: 1, Records: durable.Records(nil).Add(record), Done: func(err error) { done <- err }}); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if !tc.owned {
				log.Close()
				// The store gives the log away before it commits this row.
				if err := durable.Commit(nodes[0], []durable.Row{{Table: "test", Key: []byte("k"), Value: []byte("v")}}); err != nil {
					t.Fatal(err)
				}
			}
			shared := opened{nodes[1], func(string) {
				if tc.listed {
					if err := durable.Commit(nodes[0], []durable.Row{catalog.ListRow(&pb.Codelab{Id: id})}); err != nil {
						t.Error(err)
					}
				}
			}}
			list, err := catalog.FollowList(shared, clock.System, func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
			defer list.Close()
			bus, stop := bustest.NewNet().Node("n2")
			defer stop()
			var out bytes.Buffer
			ws, err := codelab.NewCodelabs(codelab.Config{
				System: durable.NewSystem(), Journal: shared, List: list, Frames: noFrames{}, Sweep: true,
				Files:   files.NewRegister(shared, noBlobs{}, time.Hour, time.Now),
				Logger:  slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})),
				Durable: durable.Options{IdleAfter: -1, Cluster: &durable.Cluster{Store: shared, Bus: bus}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer ws.Close(context.Background())
			if n := bytes.Count(out.Bytes(), []byte("\n")); n != tc.errors {
				t.Errorf("%d log lines: %s", n, out.String())
			}
			left := 0
			if err := nodes[0].Actors("codelab/", func(string) bool { left++; return true }); err != nil || left != 1 {
				t.Errorf("%d logs are left, %v", left, err)
			}
		})
	}
}
