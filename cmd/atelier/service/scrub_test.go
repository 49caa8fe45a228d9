package service

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"atelier/actors/catalog"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// The scrub compares the list of codelabs with their logs, and replays the logs. In an earlier
// version, it missed codelabs without a log, and logs without a list entry.
func TestScrubComparesTheListWithTheLogs(t *testing.T) {
	cfg, open := coreIn(t, "")
	c, err := OpenCore(cfg, Hooks{}, onBusyMachine, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	admin := &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, AdminID: "admin"}
	var labs []*pb.Codelab
	for _, title := range []string{"sound", "unlisted", "without log", "differs", "damaged", "deleted"} {
		m, err := c.codelabs.Create(admin, &codelab.Create{Codelab: &pb.Codelab{Title: title, IsPublic: true}})
		if err != nil {
			t.Fatal(err)
		}
		labs = append(labs, m)
	}
	if err := c.codelabs.Delete(admin, labs[5].Id); err != nil {
		t.Fatal(err)
	}
	// The scrub runs concurrently with the server, and must not fence the server's logs.
	if n, err := c.Scrub(io.Discard); n != 0 || err != nil {
		t.Fatalf("the scrub of undamaged data reports %d damaged, %v", n, err)
	}
	ws, err := c.codelabs.Get(labs[0].Id)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.Ask(codelab.Command{Caller: admin, Body: codelab.Update{Title: proto.String("still sound")}}); err != nil {
		t.Fatalf("after a scrub, the codelab refuses a command: %v", err)
	}
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}

	c = open()
	other := proto.CloneOf(labs[3])
	other.Title = "another title"
	err = durable.Commit(c.store, []durable.Row{catalog.UnlistRow(labs[1].Id), catalog.ListRow(other)})
	if err == nil {
		err = c.store.Purge("codelab/" + labs[2].Id)
	}
	if err != nil {
		t.Fatal(err)
	}
	// A log of each kind of actors gets a record that is not an event.
	for _, name := range []string{"codelab/" + labs[4].Id, "catalog/settings", "participants/all", "people/all", "webhooks/w1"} {
		log, err := c.store.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		noEvent := durable.Records(nil).Add([]byte("this is not an event"))
		if err := log.Append(durable.Batch{First: log.Tail() + 1, Records: noEvent, Done: func(err error) { done <- err }}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		log.Close()
	}
	var out strings.Builder
	n, err := c.Scrub(&out)
	if err != nil || n != 8 {
		t.Errorf("the scrub reports %d damaged, %v; want 8", n, err)
	}
	for _, whose := range []string{"of the settings", "of the participants", "of the people", "of webhook w1"} {
		if !strings.Contains(out.String(), "damaged: the log "+whose) {
			t.Errorf("the output lacks the log %s:\n%s", whose, out.String())
		}
	}
	for i, want := range map[int]string{1: "is not in the list", 2: "has no log", 3: "differs between the list and its log", 4: "the log of codelab"} {
		found := false
		for line := range strings.Lines(out.String()) {
			found = found || strings.Contains(line, want) && strings.Contains(line, labs[i].Id)
		}
		if !found {
			t.Errorf("the output lacks %q for codelab %d:\n%s", want, i, out.String())
		}
	}
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
