package messages

import (
	"slices"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/room"
	"atelier/transport/rest"
)

// pulseEvery is how often facilitators may get a summary: 4 a second.
// Attendees may get one every twelfth time: one in 3 s.
const (
	pulseEvery    = 250 * time.Millisecond
	attendeePulse = 12
)

// told is what a codelab's listeners were last told.
type told struct {
	perStep           []int
	completed, online int
	staff, attendees  bool // each has been told this state
}

// pulse sends summaries of what many people do, when it has changed.
func (g *Gateway) pulse() {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	last := map[string]*told{}
	for n := 0; ; n++ {
		select {
		case <-g.stop:
			return
		case <-tick.C:
		}
		active := g.Workshops()
		for _, w := range active {
			if w.Room.Online() > 0 {
				t := last[w.ID()]
				if t == nil {
					t = &told{}
					last[w.ID()] = t
				}
				t.tell(w, n%attendeePulse == 0)
			}
		}
		if n%240 == 0 { // forget those that rest, each minute
			for id := range last {
				if !slices.ContainsFunc(active, func(w codelab.Workshop) bool { return w.ID() == id }) {
					delete(last, id)
				}
			}
		}
	}
}

// tell sends what has changed. Everyone's turn includes the facilitators, who
// therefore get nothing extra then.
func (t *told) tell(w codelab.Workshop, everyone bool) {
	v, online := w.View(), rest.OnlineAttendees(w)
	if t.completed != v.Completed || t.online != online || !slices.Equal(t.perStep, v.PerStep) {
		*t = told{perStep: v.PerStep, completed: v.Completed, online: online}
	}
	f := room.Frame{Audience: room.Staff}
	switch {
	case everyone && !t.attendees:
		f.Audience, t.attendees = room.Everyone, true
	case t.staff:
		return
	}
	t.staff = true
	f.Payload = summary(t.perStep, t.completed, t.online)
	w.Room.Transient(f)
}
