package rest

import (
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// TimerRecord is the countdown of an exercise or a break (RULES.md, "Timer").
type TimerRecord struct {
	EndsAt       string  `json:"ends_at" is:"Timestamp"`
	Label        string  `json:"label" length:"..80"`
	Kind         string  `json:"kind" enum:"exercise|break"`
	By           string  `json:"by" doc:"The facilitator's name."`
	Person       *string `json:"person" doc:"The id of the person in «by»."`
	TotalSeconds int     `json:"total_seconds" range:"1.." doc:"The total duration, including extensions."`
}

// TimerKinds lists the names of the timer kinds.
var TimerKinds = []string{"exercise", "break"}

// ToTimer returns a timer as sent to clients, or nil if there is none.
func ToTimer(t *pb.Timer) *TimerRecord {
	if t == nil {
		return nil
	}
	out := &TimerRecord{wire.Stamp(t.EndsAt), t.Label, TimerKinds[0], t.By, wire.OrNull(t.Leader), int(t.TotalSeconds)}
	if t.Break {
		out.Kind = TimerKinds[1]
	}
	return out
}

// Spotlights lists the names of the content kinds that the projector can show.
var Spotlights = []string{codelab.SpotlightPoll, codelab.SpotlightQuestion, codelab.SpotlightTimer}

// SpotlightRecord is the item that the projector shows.
type SpotlightRecord struct {
	Kind string  `json:"kind" enum:"poll|question|timer"`
	ID   *string `json:"id" doc:"The id of the poll or question."`
}

// ToSpotlight returns the item that the projector shows, or nil if it shows nothing.
func ToSpotlight(s *pb.Spotlight) *SpotlightRecord {
	if s.GetKind() == "" {
		return nil
	}
	return &SpotlightRecord{s.Kind, wire.OrNull(s.Id)}
}

type timerSetBody struct {
	Seconds *int32  `json:"seconds,omitempty" null:"true" range:"5..14400"`
	EndsAt  *string `json:"ends_at,omitempty" format:"date-time" doc:"RFC 3339."`
	Label   *string `json:"label,omitempty" length:"..80" default:"\"\""`
	Kind    *string `json:"kind,omitempty" enum:"exercise|break" default:"\"exercise\""`
}

// setTimer starts the timer, or removes it with {"seconds": null}.
func setTimer(r *Request) error {
	body, err := r.JSONBody()
	if err != nil {
		return err
	}
	var in timerSetBody
	if err := wire.Decode(body, &in); err != nil {
		return err
	}
	b := codelab.SetTimer{Seconds: in.Seconds, Label: or(in.Label, "")}
	switch kind := or(in.Kind, TimerKinds[0]); kind {
	case TimerKinds[1]:
		b.Break = true
	case TimerKinds[0]:
	default:
		return wire.Invalid("kind must be exercise or break")
	}
	if in.EndsAt != nil {
		at, err := time.Parse(time.RFC3339, *in.EndsAt)
		if err != nil {
			return wire.Invalid("ends_at must be a time like 2026-03-02T09:15:00Z")
		}
		ms := at.UnixMilli()
		b.EndsAt = &ms
	}
	switch {
	case in.Seconds != nil && in.EndsAt != nil:
		return wire.Invalid("use seconds or ends_at, not both")
	case in.Seconds == nil && in.EndsAt == nil:
		if !contains(body, "seconds") {
			return wire.Invalid("seconds or ends_at is required; seconds is a number, or null to remove the timer")
		}
	}
	if _, err := r.do(b); err != nil {
		return err
	}
	return r.ok()
}

type spotlightSetBody struct {
	Kind *string `json:"kind" null:"true" enum:"poll|question|timer"`
	ID   *string `json:"id,omitempty" doc:"The id of the poll or question."`
}

// setSpotlight selects the content of the projector. {"kind": null} removes it.
func setSpotlight(r *Request) error {
	body, err := r.JSONBody()
	if err != nil {
		return err
	}
	var in spotlightSetBody
	if err := wire.Decode(body, &in); err != nil {
		return err
	}
	switch {
	case in.Kind == nil && !contains(body, "kind"):
		return wire.Invalid("kind is required: poll, question, timer or null")
	case in.Kind != nil && *in.Kind == "":
		return wire.Invalid("kind must be poll, question, timer or null")
	}
	if _, err := r.do(codelab.SetSpotlight{Kind: or(in.Kind, ""), ID: or(in.ID, "")}); err != nil {
		return err
	}
	return r.ok()
}
