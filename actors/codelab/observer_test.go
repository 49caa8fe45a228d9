package codelab

import (
	"slices"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/room"
)

type muteFrames struct{}

func (muteFrames) Encode(uint64, *pb.Event) (room.Frame, bool) { return room.Frame{}, false }

// A follower that missed the removal of somebody loads the state anew and sees no
// event of it. The sockets of the removed person stayed open there.
func TestALoadedStateEndsWhatWasGranted(t *testing.T) {
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
		w:  &Workshops{Config: Config{Frames: muteFrames{}, Removed: func(_ *room.Room, who string) { ended = append(ended, who) }}},
		id: "lab", room: room.New("e", room.Limits{}), who: func() {},
	}
	o.Live(l.Capture(), l.seq)
	for _, who := range []string{removed, reset, stays, FacilitatorID} {
		o.room.Join(who)
	}
	for _, cmd := range []Body{Remove{AttendeeID: removed}, ResetPin{AttendeeID: reset, PINHash: []byte("n")}, Remove{AttendeeID: away}} {
		if _, err := l.do(Command{Caller: admin, Body: cmd}); err != nil {
			t.Fatal(err)
		}
	}
	o.Live(l.Capture(), l.seq)
	slices.Sort(ended)
	if want := slices.Sorted(slices.Values([]string{removed, reset})); !slices.Equal(ended, want) {
		t.Errorf("ended for %v, want %v", ended, want)
	}
}
