package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/catalog"
	"atelier/actors/code"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/naming"
	"atelier/actors/room"
	"atelier/persistence/memory"
	"atelier/transport/httpapi"
)

// mute is an encoder that publishes no frames.
type mute struct{}

func (mute) Encode(uint64, *pb.Event) (room.Frame, bool) { return room.Frame{}, false }

// lists is a store of trees. The name of a tree lists its files. The function written is called
// after each write.
type lists struct {
	code.Store
	written func(before string)
}

func (lists) Lock(string) func()                           { return func() {} }
func (lists) Publish(string, code.Kind, []code.Head) error { return nil }
func (l lists) Write(_ string, _ code.Kind, base string, c code.Change) (string, error) {
	after := strings.Fields(base)
	for _, f := range c.Write {
		after = append(after, f.Path+"="+string(f.Content))
	}
	if l.written != nil {
		l.written(base)
	}
	return strings.Join(after, " "), nil
}

// In an earlier version, a write got 409 if another node had written in the meantime, even if the
// two writes changed different files. On one node such writes run one after the other, and both
// succeed.
func TestWritesOfTwoNodesDoNotConflict(t *testing.T) {
	journal := memory.New()
	defer journal.Close()
	list, err := catalog.LoadList(journal)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := codelab.NewCodelabs(codelab.Config{
		System: durable.NewSystem(), Journal: journal, List: list, Frames: mute{}, Logger: slog.New(slog.DiscardHandler),
		Files: files.NewRegister(journal, nil, time.Hour, time.Now), Rules: codelab.Rules{},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close(context.Background())
	boss := &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, Name: "Facilitator"}
	m, err := ws.Create(boss, &codelab.Create{Codelab: &pb.Codelab{Title: "Lab"}})
	if err != nil {
		t.Fatal(err)
	}
	lab, err := ws.Get(m.Id)
	if err != nil {
		t.Fatal(err)
	}
	do := func(b codelab.Body) error {
		_, _, err := lab.Ask(codelab.Command{Caller: boss, Body: b})
		return err
	}
	id := naming.NewID()
	if err := do(codelab.CreateWorkspace{ID: id, StructureType: codelab.FolderWorkspace, Heads: []*pb.WorkspaceHead{{Name: "main", Tree: "seed=0"}}, Current: "main"}); err != nil {
		t.Fatal(err)
	}
	write := func(path string, meanwhile func(before string)) error {
		ctx := &fasthttp.RequestCtx{}
		ctx.Init2(&net.TCPConn{}, nil, false)
		ctx.SetUserValue("folder", "main")
		a := &API{Config: Config{Codelabs: ws, Workspaces: lists{written: meanwhile}, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}}
		r := &Request{Exchange: httpapi.Alone(ctx, httpapi.Endpoint{}), api: a, op: &Operation{}, Caller: boss, Codelab: lab}
		return r.writeHead("folder", r.change("m", []code.File{{Path: path, Content: []byte("1")}}, nil))
	}
	n := 0
	other := func(times int) func(string) {
		left := times
		return func(string) {
			if left--; left >= 0 {
				n++
				if err := write(fmt.Sprint("other", n), nil); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if err := write("mine", other(3)); err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(lab.View().Workspace.Heads[0].Tree)
	if want := []string{"seed=0", "other1=1", "other2=1", "other3=1", "mine=1"}; !slices.Equal(got, want) {
		t.Errorf("the folder contains %v, want %v", got, want)
	}
	if err := write("never", other(writeTries+1)); !errors.Is(err, durable.ErrBusy) {
		t.Errorf("a write that another node overtook on every try returned %v, want ErrBusy", err)
	}
	// Real conflicts are refused.
	for what, tc := range map[string]struct {
		body codelab.Body
		want durable.Reason
	}{
		"a taken name":   {codelab.ChangeWorkspace{WorkspaceID: id, Name: "main", After: "x"}, durable.Conflict},
		"a deleted name": {codelab.ChangeWorkspace{WorkspaceID: id, Name: "gone", Before: "x", After: "y"}, durable.Missing},
	} {
		var rejected *durable.Rejection
		if err := do(tc.body); !errors.As(err, &rejected) || rejected.Reason != tc.want || errors.Is(err, codelab.ErrHeadMoved) {
			t.Errorf("%s: the change returned %v, want reason %v", what, err, tc.want)
		}
	}
	gone := func(string) {
		if err := do(codelab.DeleteWorkspace{}); err != nil && !durable.IsMissing(err) {
			t.Error(err)
		}
	}
	if err := write("late", gone); !durable.IsMissing(err) {
		t.Errorf("a write to a workspace deleted in the meantime returned %v, want Missing", err)
	}
}
