package messages

import (
	"fmt"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/transport/httpapi"
	"atelier/transport/rest"
)

// A client can have a position from REST or from a node that is ahead, while the room still lacks
// the commit. A room is updated slightly later than the view. In an earlier version, such a client
// got a resync.
func TestAClientAheadOfTheRoomGetsNoResync(t *testing.T) {
	s := newSchool(t)
	for i := range 20 {
		let := make(chan struct{})
		s.frames.wait.Store(&let)
		if err := s.lab.Submit(codelab.Command{Caller: boss, Body: codelab.PostChat{Message: fmt.Sprint(i)}}, nil); err != nil {
			t.Fatal(err)
		}
		seen := s.lab.Room.Head() + 1
		for at := uint64(0); at < seen; _, at = s.lab.ViewAt() {
		}
		if s.lab.Room.Head() >= seen {
			t.Fatal("the room did not hold back its frame")
		}
		ctx := &fasthttp.RequestCtx{}
		r := &rest.Request{Exchange: httpapi.Alone(ctx, httpapi.Endpoint{}), Caller: boss, Codelab: s.lab}
		go close(let)
		o, err := s.attachment(r, s.lab.Room.Epoch(), fmt.Sprint(seen))
		if err != nil || o.EpochChanged {
			t.Fatalf("epoch changed: %v, %v, want false", o.EpochChanged, err)
		}
		if head := s.lab.Room.Head(); head < seen {
			t.Fatalf("the client was at %d, but joined a room at %d", seen, head)
		}
		s.frames.wait.Store(nil)
	}
	// The server does not wait for a position that no node has reached.
	r := &rest.Request{Exchange: httpapi.Alone(&fasthttp.RequestCtx{}, httpapi.Endpoint{}), Caller: boss, Codelab: s.lab}
	if _, err := s.attachment(r, s.lab.Room.Epoch(), "1000000"); err != nil {
		t.Error(err)
	}
}
