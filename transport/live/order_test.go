package live

import (
	"fmt"
	"testing"

	"atelier/actors/room"
)

func TestFreshSessionBeginsAtTheHead(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	r.Publish(frames(1, 5)...)
	c := h.dial("room=a&person=p1")
	c.expectNote(note{Type: "welcome", Seq: 5, Head: 5})
	r.Publish(frames(6, 7)...)
	c.expect(text(6), text(7))
}

// In an earlier version, the welcome came 60 ms after the 101 under load, and the client missed the
// frames published in between.
func TestAFreshSessionBeginsAtItsAdmission(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	r.Publish(frames(1, 3)...)
	c := h.dial("room=a&person=p1&from=1")
	c.expectNote(note{Type: "welcome", Seq: 1, Head: 3})
	c.expect(text(2), text(3))
	r.Publish(frames(4, 4)...)
	c.expect(text(4))
	// If nothing was published after the given position, the session begins as usual.
	h.dial("room=a&person=p2&from=4").expectNote(note{Type: "welcome", Seq: 4, Head: 4})
}

func TestReturningSessionIsCaughtUpThenLive(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	r.Publish(frames(1, 5)...)
	c := h.dial("room=a&person=p1&since=2")
	c.expectNote(note{Type: "welcome", Seq: 2, Head: 5})
	c.expect(text(3), text(4), text(5))
	r.Publish(frames(6, 6)...)
	c.expect(text(6))
}

func TestAnImpossibleReplayIsAResync(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	r.Restore(frames(11, 15), 10, 15)
	for _, c := range []struct{ query, reason string }{
		{"since=9", "window"},
		{"since=16", "window"},
		{"since=12&epoch=other", "epoch"},
	} {
		t.Run(c.query, func(t *testing.T) {
			cl := h.dial("room=a&person=p1&" + c.query)
			cl.expectNote(note{Type: "welcome", Seq: 15, Head: 15})
			cl.expectNote(note{Type: "resync", Seq: 15, Reason: c.reason})
		})
	}
	stats := h.hub.Stats()
	if stats.Resyncs[ResyncWindow] != 2 || stats.Resyncs[ResyncEpoch] != 1 {
		t.Errorf("the resyncs are %v, want 2 by window and 1 by epoch", stats.Resyncs)
	}
}

// With an earlier version of the loop this test hung. A response was sent after the loop had served
// the room and before the loop emptied the outbox. The response stayed in the outbox, because its
// frame was not served yet and the session was still marked as queued.
func TestResponsesFollowTheFramesPublishedBeforeThem(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	c := h.dial("room=a&person=p1")
	c.expectNote(note{Type: "welcome"})
	const rounds = 2000
	go func() {
		for seq := uint64(1); seq <= rounds; seq++ {
			r.Publish(frames(seq, seq)...)
			c.session.Send(fmt.Appendf(nil, "ack %d", seq))
		}
	}()
	seen, acks := uint64(0), uint64(0)
	for seen < rounds || acks < rounds {
		m := c.next()
		var n uint64
		if _, err := fmt.Sscanf(m, "ack %d", &n); err == nil {
			if n != acks+1 {
				t.Fatalf("ack %d after ack %d", n, acks)
			}
			if acks = n; seen < n {
				t.Fatalf("ack %d came after frame %d, before its own frame", n, seen)
			}
			continue
		}
		if m != text(seen+1) {
			t.Fatalf("got %s after frame %d", m, seen)
		}
		seen++
	}
}

func TestFramesReachTheirAudience(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	facilitator := h.dial("room=a&person=facilitator&facilitator=1")
	other := h.dial("room=a&person=facilitator&facilitator=1")
	ann, ann2, bob := h.dial("room=a&person=ann"), h.dial("room=a&person=ann"), h.dial("room=a&person=bob")
	everyone := []*client{facilitator, other, ann, ann2, bob}
	for _, c := range everyone {
		c.next() // welcome
	}
	frame := func(seq uint64, to room.Audience, origin *client, people ...string) {
		f := room.Frame{Seq: seq, Audience: to, Payload: []byte(text(seq))}
		copy(f.People[:], people)
		if origin != nil {
			f.Origin = origin.session.ID()
		}
		r.Publish(f)
	}
	frame(1, room.Everyone, nil)
	frame(2, room.Facilitators, nil)
	frame(3, room.People, ann, "ann", "bob")            // ann writes to bob
	frame(4, room.People, bob, "bob", room.Facilitator) // bob writes to the facilitators
	frame(5, room.FacilitatorsAndPeople, ann2, "ann")   // ann's progress
	frame(6, room.People, facilitator, "bob", room.Facilitator)
	frame(7, room.Everyone, bob)
	frame(8, room.Everyone, nil)
	for i, want := range [][]uint64{
		{1, 2, 4, 5, 7, 8},
		{1, 2, 4, 5, 6, 7, 8},
		{1, 5, 7, 8},
		{1, 3, 7, 8},
		{1, 3, 6, 8},
	} {
		for _, seq := range want {
			everyone[i].expect(text(seq))
		}
	}
	// A replay depends on the person, not on the session that sent the message.
	again := h.dial("room=a&person=ann&since=0")
	again.next()
	again.expect(text(1), text(3), text(5), text(7), text(8))
}
