package messages_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/codelab/draw"
	"atelier/actors/durable"
	"atelier/actors/naming"
	"atelier/transport/messages"
)

// A room keeps the frame of an event as long as the log keeps the event. Otherwise reconnecting
// clients would receive different frames after a restart. In an earlier version, the frame of a
// thread named the thread instead of its first comment. The frame stayed after the log had lost the
// event together with this comment.
func TestARoomKeepsFramesAsLongAsTheLog(t *testing.T) {
	kept, dropped := 0, 0
	for seed := range uint64(200) {
		s := &draw.Source{Rand: rand.New(rand.NewPCG(seed, 0)), Name: "s"}
		state, now := codelab.New("lab", codelab.Rules{}, naming.NewIDs("lab")), time.UnixMilli(1_800_000_000_000)
		var events []*pb.Event
		submit := func(cmd codelab.Command) {
			if cmd.Body == nil {
				return
			}
			d, err := state.Decide(cmd, durable.Env{Now: now, Seq: uint64(len(events)) + 1})
			if err != nil {
				return
			}
			for _, e := range d.Events {
				events = append(events, e)
				state.Apply(uint64(len(events)), e)
			}
		}
		submit(draw.Lead(codelab.Create{Codelab: &pb.Codelab{Title: "Lab", IsPublic: true, JoinCode: "ABC234"},
			Steps: []*pb.Step{{Title: "one", ContentMarkdown: "1"}}}))
		for range 100 {
			now = now.Add(time.Second)
			word := draw.Names[s.Rand.IntN(len(draw.Names))]
			if often := s.Rand.IntN(10); often < 6 {
				word = []string{"Register", "Annotate", "Reply", "DeleteComment", "PostChat", "AskHelp"}[often]
			}
			submit(draw.Words[word](s, state.Capture()))
		}
		view := state.Capture()
		present, erase := view.Present(), codelab.Erase(view)
		for i, e := range events {
			f, ok := messages.Frames{}.Encode(uint64(i)+1, e)
			if !ok {
				continue
			}
			after, _ := erase(e)
			again, framed := messages.Frames{}.Encode(uint64(i)+1, after)
			left, keeps := present.Frame(f)
			if keeps != framed {
				t.Fatalf("seed %d: the log keeps event %d: %v, the room keeps its frame: %v: %v", seed, i+1, framed, keeps, e)
			} else if keeps && (left.People != again.People || left.Audience != again.Audience || left.Item != again.Item) {
				t.Fatalf("seed %d: event %d has the people %v, item %q, audience %v in the log, but %v, %q, %v in the room", seed, i+1, again.People, again.Item, again.Audience, left.People, left.Item, left.Audience)
			} else if keeps {
				kept++
			} else {
				dropped++
			}
		}
	}
	if kept < 1000 || dropped < 1000 {
		t.Errorf("only %d frames were kept and %d dropped, want 1000 of each", kept, dropped)
	}
}
