package rest

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// taughtRecord is a codelab as its members see it, with the server's time and the live state
// (RULES.md, "Live teaching").
type taughtRecord struct {
	// The time is the first member, so that its position is known in an encoded record (stamped).
	clockRecord
	codelabRecord
	liveRecord
}

type clockRecord struct {
	Now string `json:"now" is:"Timestamp" doc:"The server's time, to which the timer refers. It is up to 0.1 s old, or 1 s in a compressed response. In GET /codelabs/{id}, only for facilitators and attendees of the codelab."`
}

// liveRecord is the live state of a codelab.
type liveRecord struct {
	Pin       *pinRecord       `json:"pin" doc:"The message above the chat. In GET /codelabs/{id}, only for facilitators and attendees of the codelab."`
	Pointer   *pointerRecord   `json:"pointer" doc:"The step to which a facilitator points. In GET /codelabs/{id}, only for facilitators and attendees of the codelab."`
	Poll      *PollRecord      `json:"poll" is:"Poll" doc:"The open poll, as of its last change. In GET /codelabs/{id}, only for facilitators and attendees of the codelab."`
	Timer     *TimerRecord     `json:"timer" doc:"The timer of an exercise or a break. In GET /codelabs/{id}, only for facilitators and attendees of the codelab."`
	Spotlight *SpotlightRecord `json:"spotlight" doc:"The poll, question or timer on the projector. In GET /codelabs/{id}, only for facilitators and attendees of the codelab."`
}

type pinRecord struct {
	Message string `json:"message" length:"1..2000"`
	At      string `json:"at" is:"Timestamp"`
}

type pointerRecord struct {
	StepNumber int32   `json:"step_number" range:"1.."`
	Hints      bool    `json:"hints" doc:"Whether the hints of that step are open for everybody."`
	By         string  `json:"by" doc:"The facilitator's name."`
	Person     *string `json:"person" doc:"The id of the person in «by»: the owner's account, or the id of a facilitator or assistant."`
}

func (r *Request) toTaught(v *codelab.View, m *pb.Codelab) taughtRecord {
	admin := r.IsAdmin()
	out := taughtRecord{
		clockRecord: clockRecord{wire.Stamp(r.api.TimeOf(r.Codelab).UnixMilli())}, codelabRecord: r.toCodelab(m, admin),
		liveRecord: liveRecord{Timer: ToTimer(v.Timer), Spotlight: ToSpotlight(v.Spotlight)},
	}
	if p := v.OpenPoll(); p != nil {
		out.Poll = ToPoll(p.Told, admin)
	}
	if p := v.Pin; p != nil {
		out.Pin = &pinRecord{p.Message, wire.Stamp(p.At)}
	}
	if p := v.Pointer; p != nil {
		out.Pointer = &pointerRecord{p.StepNumber, p.Hints, p.By, wire.OrNull(p.Leader)}
	}
	return out
}

type pinSetBody struct {
	Message *string `json:"message" null:"true" length:"1..2000"`
}

func setPin(r *Request) error {
	b, err := r.JSONBody()
	if err != nil {
		return err
	}
	var in pinSetBody
	if err := wire.Decode(b, &in); err != nil {
		return err
	}
	if in.Message == nil && !contains(b, "message") { // null is allowed, and removes the pin
		return wire.Invalid("message is required: a text or null")
	}
	if _, err := r.do(codelab.SetPin{Message: in.Message}); err != nil {
		return err
	}
	return r.ok()
}
