package codelab

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"atelier/actors/catalog"
	"atelier/actors/clock"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/room"
	"atelier/persistence/memory"
)

func emptyList(t *testing.T) *catalog.List {
	t.Helper()
	list, err := catalog.LoadList(memory.New())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

type muteFrames struct{}

func (muteFrames) Encode(uint64, *pb.Event) (room.Frame, bool) { return room.Frame{}, false }

// A follower that missed the removal of a person loads a state without that person, and no event of
// the removal. In an earlier version, the removed person's connections stayed open.
func TestALoadedStateEndsTheAccessOfRemovedPeople(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	id := func(name string) string {
		v, err := l.do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: name, PINHash: []byte("h")}})
		if err != nil {
			t.Fatal(err)
		}
		return v.(Registration).Attendee.Id
	}
	removed, reset, stays, away := id("Ann"), id("Bob"), id("Cy"), id("Dee")
	var ended []string
	o := &observer{
		w:  &Codelabs{Config: Config{Frames: muteFrames{}, List: emptyList(t), Removed: func(_ *room.Room, who string) { ended = append(ended, who) }}},
		id: "lab", room: room.New("e", room.Limits{}), who: func() {},
	}
	o.Live(l.Capture(), l.seq)
	for _, who := range []string{removed, reset, stays, FacilitatorID} {
		o.room.Join(who)
	}
	for _, cmd := range []Body{Remove{AttendeeID: removed}, ResetPin{Pins: []NewPin{{AttendeeID: reset, Hash: []byte("n")}}}, Remove{AttendeeID: away}} {
		if _, err := l.do(Command{Caller: admin, Body: cmd}); err != nil {
			t.Fatal(err)
		}
	}
	o.Live(l.Capture(), l.seq)
	slices.Sort(ended)
	if want := slices.Sorted(slices.Values([]string{removed, reset})); !slices.Equal(ended, want) {
		t.Errorf("access ended for %v, want %v", ended, want)
	}
}

// On a single node, no feed updates the list, so a loaded state must do it.
func TestALoadedStateUpdatesTheList(t *testing.T) {
	store := memory.New()
	defer store.Close()
	list, err := catalog.LoadList(store)
	if err != nil {
		t.Fatal(err)
	}
	l := newLab()
	l.create(t, "one")
	var ended []string
	o := &observer{
		w:  &Codelabs{Config: Config{Frames: muteFrames{}, List: list, Removed: func(_ *room.Room, who string) { ended = append(ended, who) }}},
		id: l.meta.Id, room: room.New("e", room.Limits{}), who: func() {},
	}
	list.Put(l.meta)
	o.Live(l.Capture(), l.seq)
	if _, err := l.do(Command{Caller: admin, Body: Update{Title: proto.String("another title")}}); err != nil {
		t.Fatal(err)
	}
	o.Live(l.Capture(), l.seq)
	if m, err := list.Get(o.id); err != nil || m.GetTitle() != "another title" {
		t.Errorf("the list has %v, %v, want the changed title", m, err)
	}
	if _, err := l.do(Command{Caller: admin, Body: Delete{}}); err != nil {
		t.Fatal(err)
	}
	o.Live(l.Capture(), l.seq)
	if m, err := list.Get(o.id); err != nil || m != nil {
		t.Errorf("after the deletion, the list has %v, %v", m, err)
	}
	if !slices.Equal(ended, []string{""}) {
		t.Errorf("access ended for %q", ended)
	}
}

// A room that is filled from a log replays from the position before the log's first record, and
// from no earlier one, because truncated records cannot be replayed.
func TestARecoveredRoomReplaysFromItsFirstRecord(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	o := &observer{w: &Codelabs{Config: Config{Frames: muteFrames{}, List: emptyList(t)}}, id: "lab", room: room.New("e", room.Limits{}), who: func() {}}
	for _, tc := range []struct {
		records []uint64
		head    uint64
		floor   uint64
	}{
		{[]uint64{1, 2, 3}, 3, 0},
		{[]uint64{5, 6}, 6, 4},
		{nil, 7, 7}, // the snapshot contains all records
	} {
		for _, seq := range tc.records {
			o.Recovered(seq, &pb.Event{Body: &pb.Event_Pulsed{Pulsed: &pb.Pulsed{}}})
		}
		o.Live(l.Capture(), tc.head)
		for since := range tc.head + 2 {
			if _, _, ok := o.room.After(since, nil, 1); ok != (since >= tc.floor && since <= tc.head) {
				t.Errorf("records %v, head %d: a replay from %d is possible: %v", tc.records, tc.head, since, ok)
			}
		}
	}
}

// itemFrames encodes the events of polls and questions for attendees.
type itemFrames struct{}

func (itemFrames) Encode(seq uint64, e *pb.Event) (room.Frame, bool) {
	f := room.Frame{Seq: seq, Payload: []byte{byte(seq)}}
	switch b := e.Body.(type) {
	case *pb.Event_QuestionAsked:
		f.Item = b.QuestionAsked.Question.Id
	case *pb.Event_QuestionHidden:
		f.Audience = room.Attendees
	case *pb.Event_PollChanged:
		f.Item, f.Audience = b.PollChanged.Poll.Id, room.Facilitators
	case *pb.Event_PollShown:
		f.Item, f.Audience = b.PollShown.Poll.GetId(), room.Attendees
	default:
		return f, false
	}
	return f, true
}

// In an earlier version, late attendees could request a replay to read a hidden question, or counts
// that were no longer shown.
func TestAReplayHidesHiddenItemsFromAttendees(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	events := []*pb.Event{
		{Body: &pb.Event_QuestionAsked{QuestionAsked: &pb.QuestionAsked{Question: &pb.Question{Id: "hidden"}}}},
		{Body: &pb.Event_QuestionAsked{QuestionAsked: &pb.QuestionAsked{Question: &pb.Question{Id: "stays"}}}},
		{Body: &pb.Event_QuestionHidden{QuestionHidden: &pb.QuestionHidden{QuestionId: "hidden"}}},
		{Body: &pb.Event_PollShown{PollShown: &pb.PollShown{PollId: "other", Poll: &pb.Poll{Id: "other", Shown: true}}}},
		{Body: &pb.Event_PollChanged{PollChanged: &pb.PollChanged{Poll: &pb.Poll{Id: "poll"}}}},
		{Body: &pb.Event_PollShown{PollShown: &pb.PollShown{PollId: "poll", Poll: &pb.Poll{Id: "poll", Shown: true, Counts: []int32{1}}}}},
		{Body: &pb.Event_PollShown{PollShown: &pb.PollShown{PollId: "poll", Poll: &pb.Poll{Id: "poll"}}}},
	}
	replay := func(r *room.Room, facilitator bool) (seqs []uint64) {
		frames, _, ok := r.After(0, nil, 100)
		if !ok {
			t.Fatal("the room has no replay")
		}
		for _, f := range frames {
			if f.Reaches("somebody", facilitator) {
				seqs = append(seqs, f.Seq)
			}
		}
		return seqs
	}
	for name, fill := range map[string]func(o *observer){
		"one by one": func(o *observer) {
			o.Live(l.Capture(), 0)
			for i, e := range events {
				o.Commit(l.Capture(), uint64(i+1), []durable.Committed[*pb.Event]{{Seq: uint64(i + 1), Event: e}})
			}
		},
		"in one commit": func(o *observer) {
			o.Live(l.Capture(), 0)
			var all []durable.Committed[*pb.Event]
			for i, e := range events {
				all = append(all, durable.Committed[*pb.Event]{Seq: uint64(i + 1), Event: e})
			}
			o.Commit(l.Capture(), 7, all)
		},
		"read from the log": func(o *observer) {
			for i, e := range events {
				o.Recovered(uint64(i+1), e)
			}
			o.Live(l.Capture(), 7)
		},
	} {
		o := &observer{w: &Codelabs{Config: Config{Frames: itemFrames{}, List: emptyList(t)}}, id: "lab", room: room.New("e", room.Limits{}), who: func() {}}
		o.room.Later(room.Frame{Audience: room.Attendees, Payload: []byte("a summary")})
		fill(o)
		o.room.Flush()
		if left, _, _ := o.room.TransientsAfter(0, nil, 100); len(left) != 1 {
			t.Errorf("%s: %d summaries are queued, want 1", name, len(left))
		}
		if got := replay(o.room, false); !slices.Equal(got, []uint64{2, 3, 4, 7}) {
			t.Errorf("%s: attendees receive the events %v", name, got)
		}
		if got := replay(o.room, true); !slices.Equal(got, []uint64{1, 2, 5}) {
			t.Errorf("%s: facilitators receive the events %v", name, got)
		}
	}
}

// countingFrames records the number of attendees in each poll message.
type countingFrames struct{ asked *[]int32 }

func (f countingFrames) Encode(_ uint64, e *pb.Event) (room.Frame, bool) {
	if b := e.GetPollChanged(); b != nil {
		*f.asked = append(*f.asked, b.Poll.Of)
	}
	return room.Frame{}, false
}

// A poll counts the attendees who are connected while it is open, for each round separately.
func TestAPollCountsTheConnectedAttendees(t *testing.T) {
	l, people := polled(t, 3)
	p := l.newPoll(t, &pb.Poll{Kind: pollText, Question: "q"})
	var asked []int32
	o := &observer{
		w:  &Codelabs{Config: Config{Frames: countingFrames{&asked}, List: emptyList(t), Durable: durable.Options{Clock: clock.System}}},
		id: "lab", room: room.New("e", room.Limits{}), who: func() {},
	}
	o.Live(l.Capture(), l.seq)
	o.room.Join(people[0].ID)
	o.room.Join(FacilitatorID)
	commit := func(what string, body Body, want int32) {
		t.Helper()
		from := len(l.events)
		l.must(t, admin, body)
		var committed []durable.Committed[*pb.Event]
		for i, e := range l.events[from:] {
			committed = append(committed, durable.Committed[*pb.Event]{Seq: uint64(from + i + 1), Event: e})
		}
		asked = nil
		o.Commit(l.Capture(), l.seq, committed)
		if len(asked) == 0 || asked[len(asked)-1] != want {
			t.Errorf("%s: the poll messages count the attendees as %v, want %d last", what, asked, want)
		}
	}
	commit("opened", OpenPoll{PollID: p.Id}, 1)
	o.room.Join(people[1].ID)
	o.room.Leave(people[0].ID) // a person who left still counts as asked
	commit("closed", ClosePoll{PollID: p.Id}, 2)
	o.room.Join(people[2].ID)
	o.room.Leave(people[1].ID)
	commit("reset", ResetPoll{PollID: p.Id}, 0)
	commit("opened again", OpenPoll{PollID: p.Id}, 1)
}
