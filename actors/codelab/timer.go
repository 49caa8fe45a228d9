package codelab

import (
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

const (
	maxTimerLabel   = 80
	minTimerSeconds = 5
	maxTimerSeconds = 14_400
)

// SetTimer starts the countdown of an exercise or a break, or removes the countdown
// (transport/rest/RULES.md, "Timer"). The server does nothing when the countdown ends.
type SetTimer struct {
	// At most one of Seconds and EndsAt is set. If both are nil, the timer is removed.
	Seconds *int32
	EndsAt  *int64 // Unix milliseconds
	Label   string
	Break   bool
}

func (b SetTimer) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can set the timer")
	}
	if b.Seconds == nil && b.EndsAt == nil {
		if c.s.timer == nil {
			return decision{}, nil
		}
		d := decided(nil, timed(nil))
		d.Rows = c.audit("timer_set", c.s.id, map[string]string{"seconds": "none"})
		return d, nil
	}
	label, err := line("label", b.Label, 0, maxTimerLabel)
	if err != nil {
		return decision{}, err
	}
	ends := c.now
	if b.EndsAt != nil {
		ends = time.UnixMilli(*b.EndsAt)
	} else {
		ends = ends.Add(time.Duration(*b.Seconds) * time.Second)
	}
	left := ends.Sub(c.now).Round(time.Second)
	if left < minTimerSeconds*time.Second || left > maxTimerSeconds*time.Second {
		return decision{}, durable.Reject(durable.Invalid, "the timer takes %d to %d seconds", minTimerSeconds, maxTimerSeconds)
	}
	total := int32(left / time.Second)
	// A new EndsAt for the running timer of the same exercise keeps its start, so that clients show
	// the right elapsed share.
	if was := c.s.timer; was != nil && was.EndsAt > c.now.UnixMilli() && was.Label == label && was.Break == b.Break && b.EndsAt != nil {
		total = was.TotalSeconds + int32((ends.UnixMilli()-was.EndsAt)/1000)
	}
	d := decided(nil, timed(&pb.Timer{
		EndsAt: ends.UnixMilli(), Label: label, Break: b.Break, By: c.Name, Leader: c.leader(), TotalSeconds: max(total, 1),
	}))
	d.Rows = c.audit("timer_set", c.s.id, nil)
	return d, nil
}

func timed(t *pb.Timer) *pb.Event {
	return &pb.Event{Body: &pb.Event_TimerSet{TimerSet: &pb.TimerSet{Timer: t}}}
}

// Kinds of content of the projector.
const (
	SpotlightPoll     = "poll"
	SpotlightQuestion = "question"
	SpotlightTimer    = "timer"
)

// SetSpotlight sets the content of the projector to a poll, a question or the timer. Without a kind
// it clears the projector.
type SetSpotlight struct {
	Kind, ID string
}

func (b SetSpotlight) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can set the content of the projector")
	}
	switch b.Kind {
	case "", SpotlightTimer:
		b.ID = ""
	case SpotlightPoll:
		if _, err := c.poll(b.ID); err != nil {
			return decision{}, err
		}
	case SpotlightQuestion:
		q, err := c.question(b.ID)
		if err != nil {
			return decision{}, err
		}
		if q.rec.State != questionOpen && q.rec.State != questionAnswered {
			return decision{}, durable.Reject(durable.Conflict, "attendees do not see this question yet")
		}
	default:
		return decision{}, durable.Reject(durable.Invalid, "kind must be poll, question, timer or null")
	}
	if was := c.s.spotlight; was.GetKind() == b.Kind && was.GetId() == b.ID {
		return decision{}, nil
	}
	return decided(nil, spotlighted(b.Kind, b.ID)), nil
}

func spotlighted(kind, id string) *pb.Event {
	return &pb.Event{Body: &pb.Event_Spotlighted{Spotlighted: &pb.Spotlighted{Spotlight: &pb.Spotlight{Kind: kind, Id: id}}}}
}

// unspotlight returns the event that removes content from the projector, if the projector shows it.
func (c call) unspotlight(kind, id string) []*pb.Event {
	if s := c.s.spotlight; s.GetKind() == kind && s.GetId() == id {
		return []*pb.Event{spotlighted("", "")}
	}
	return nil
}

func (s *State) applyTimer(seq uint64, t *pb.Timer) {
	s.timer, s.changed.Codelab = t, seq
}

func (s *State) applySpotlight(seq uint64, x *pb.Spotlight) {
	if s.spotlight = x; x.GetKind() == "" {
		s.spotlight = nil
	}
	s.changed.Codelab = seq
}
