package live

import (
	"testing"

	"atelier/actors/room"
)

// Whoever comes is served also when the last of those who were there turns out to
// be gone just then: the loop's view of the room ended with that one.
func TestWhoComesAsTheLastOneGoesIsServed(t *testing.T) {
	s := newStage(t, room.Limits{})
	defer s.hub.Close()
	s.enter(1, "ann", false, WebSocket, &tape{gone: true})
	s.publish(1, 1, 0)
	w := &tape{wrote: func() {}}
	newcomer := &Session{id: 2, loop: s.loop, room: s.room, person: "bob", handler: nobody{}, wire: w}
	s.loop.join(newcomer, nil, &AttachOptions{Room: s.room, Welcome: func(uint64, uint64) []byte { return []byte("<t0>") }})
	s.loop.turn() // the news of the first
	s.publish(2, 2, 0)
	s.loop.turn()
	if got := w.marks(); got != "<t0><s2>" {
		t.Errorf("got %s", got)
	}
}
