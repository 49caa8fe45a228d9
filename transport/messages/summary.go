package messages

import (
	"slices"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/room"
	"atelier/transport/rest"
)

// summaryEvery is the minimum interval of summaries to facilitators. The interval for attendees is
// twelve times as long.
const (
	summaryEvery    = 250 * time.Millisecond
	attendeeSummary = 12
	// alone is the number of turns after which an attendees' summary is sent alone, if no other
	// message was sent in the meantime.
	alone = 3
)

// summary reports the progress of many people in one message.
type summary struct {
	Type      string `json:"type"`
	PerStep   []int  `json:"per_step" doc:"The number of people on each step, beginning with step 1."`
	Completed int    `json:"completed"`
	Online    int    `json:"online" doc:"The number of attendees with a live connection."`
	// Pulse is for facilitators only.
	Pulse *rest.Pulses `json:"pulse,omitempty" is:"Pulses"`
}

// same reports whether two summaries have the same content. A nil summary was never sent, and
// differs from all others.
func (s *summary) same(o *summary) bool {
	if s == nil || o == nil {
		return s == o
	}
	return slices.Equal(s.PerStep, o.PerStep) && s.Completed == o.Completed && s.Online == o.Online &&
		(s.Pulse == o.Pulse || s.Pulse != nil && o.Pulse != nil && *s.Pulse == *o.Pulse)
}

// lastSent is the state last sent to a codelab's sessions.
type lastSent struct {
	facilitator, attendees *summary
	votes                  counted
}

// summaries sends summaries of changes by many people.
func (g *Gateway) summaries() {
	tick := time.NewTicker(summaryEvery)
	defer tick.Stop()
	last := map[string]*lastSent{}
	for n := 0; ; n++ {
		select {
		case <-g.stop:
			return
		case <-tick.C:
		}
		active := g.Codelabs()
		summarize(active, last, n%attendeeSummary)
		if n%240 == 0 { // once per minute, remove the state of inactive codelabs
			for id := range last {
				if !slices.ContainsFunc(active, func(w codelab.Codelab) bool { return w.ID() == id }) {
					delete(last, id)
				}
			}
		}
	}
}

// summarize sends the changes since the last summary to each codelab's sessions. At turn 0
// attendees also receive the summary, with the next message to everyone, or alone if no message is
// published in time.
func summarize(active []codelab.Codelab, last map[string]*lastSent, turn int) {
	for _, w := range active {
		if w.Room.Empty() {
			delete(last, w.ID()) // sessions that connect later have not received the last summary
			continue
		}
		t := last[w.ID()]
		if t == nil {
			t = &lastSent{}
			last[w.ID()] = t
		}
		for _, f := range t.changes(w.View(), w.OnlineAttendees(), turn == 0) {
			if f.Audience == room.Attendees {
				w.Room.Later(f)
			} else {
				w.Room.Transient(f)
			}
		}
		for _, f := range t.votes.changes(w, w.View(), turn%attendeeCounts == 0) {
			w.Room.Transient(f)
		}
		if turn == alone {
			w.Room.Flush()
		}
	}
}

// changes returns the frames with the changes since the last summary for facilitators. With
// attendees set, it also returns frames for attendees, who never receive pulses.
func (t *lastSent) changes(v *codelab.View, online int, attendees bool) (frames []room.Frame) {
	now := &summary{Type: "progress_summary", PerStep: v.PerStep, Completed: v.Completed, Online: online}
	if attendees && !now.same(t.attendees) {
		t.attendees = now
		frames = append(frames, room.Frame{Audience: room.Attendees, Payload: encode(now)})
	}
	all := *now
	all.Pulse = rest.ToPulses(v.Pulses)
	if !all.same(t.facilitator) {
		t.facilitator = &all
		frames = append(frames, room.Frame{Audience: room.Facilitators, Payload: encode(&all)})
	}
	return frames
}
