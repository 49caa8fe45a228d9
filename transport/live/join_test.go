package live

import (
	"fmt"
	"testing"

	"atelier/actors/room"
)

// A new session is served even if the last existing session ends at the same time, which also
// ends the loop's room.
func TestJoinDuringTheLastLeaveIsServed(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	s.enter(1, "ann", false, WebSocket, &tape{gone: true})
	s.publish(1, 1, 0)
	w := &tape{wrote: func() {}}
	newcomer := &Session{id: 2, loop: s.loop, room: s.room, person: "bob", handler: nobody{}, wire: w}
	s.loop.join(newcomer, nil, &AttachOptions{Room: s.room, Welcome: func(uint64, uint64) []byte { return []byte("<t0>") }}, headOf(s.room))
	s.loop.turn() // handles the wake-up for the first session, whose room in the loop has ended
	s.publish(2, 2, 0)
	s.loop.turn()
	if got := w.marks(); got != "<t0><s2>" {
		t.Errorf("the new session got %s, want <t0><s2>", got)
	}
}

// While frames are published continuously, joining sessions do not each cause a separate fan-out.
func TestJoinDoesNotWaitForLaterFrames(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	const people = 50
	seq, writes := uint64(0), 0
	wrote := func() {
		if writes++; writes%10 == 1 && writes < 100*people {
			seq++
			s.publish(seq, seq, 0)
		}
	}
	s.enter(1, "first", false, WebSocket, &tape{wrote: wrote})
	var tapes []*tape
	for i := range uint64(people) {
		w := &tape{wrote: wrote}
		tapes = append(tapes, w)
		newcomer := &Session{id: i + 2, loop: s.loop, room: s.room, person: fmt.Sprint("p", i), handler: nobody{}, wire: w}
		welcome := func(uint64, uint64) []byte { return []byte("<t0>") }
		head := headOf(s.room)
		s.loop.post(func() { s.loop.join(newcomer, nil, &AttachOptions{Room: s.room, Welcome: welcome}, head) })
	}
	s.loop.turn()
	if writes > 5*people {
		t.Errorf("one turn took %d writes", writes)
	}
	for i, w := range tapes {
		if w.marks() != "<t0>" {
			t.Errorf("newcomer %d got %.40q", i, w.marks())
		}
	}
}
