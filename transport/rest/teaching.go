package rest

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// taughtRecord is a codelab as its members see it: with the pinned message and the facilitators'
// pointer (RULES.md, "Live teaching").
type taughtRecord struct {
	// Now is the server's time, by which timers are counted. It is the first member: its
	// place is known when the rest was encoded before (stamped).
	Now string `json:"now"`
	codelabRecord
	Pin       *pinRecord       `json:"pin"`
	Pointer   *pointerRecord   `json:"pointer"`
	Poll      *PollRecord      `json:"poll"` // the one that is open, as it changed last
	Timer     *TimerRecord     `json:"timer"`
	Spotlight *SpotlightRecord `json:"spotlight"`
}

type pinRecord struct {
	Message string `json:"message" length:"1..2000"`
	At      string `json:"at" is:"Timestamp"`
}

type pointerRecord struct {
	StepNumber int32   `json:"step_number" range:"1.."`
	Hints      bool    `json:"hints" doc:"The hints of that step are open for all."`
	By         string  `json:"by" doc:"The facilitator's name."`
	Person     *string `json:"person" doc:"Owner of the name: the owner's account, or the id of a facilitator or assistant."`
}

func (r *Request) toTaught(v *codelab.View, m *pb.Codelab) taughtRecord {
	admin := r.IsAdmin()
	out := taughtRecord{Now: wire.Stamp(r.api.TimeOf(r.Codelab).UnixMilli()), codelabRecord: r.toCodelab(m, admin), Timer: ToTimer(v.Timer), Spotlight: ToSpotlight(v.Spotlight)}
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

// pinSetBody is the body of setPin.
type pinSetBody struct {
	Message *string `json:"message" null:"true" length:"1..2000"`
}

func setPin(r *Request) error {
	b, err := r.Body()
	if err != nil {
		return err
	}
	var in pinSetBody
	if err := wire.Decode(b, &in); err != nil {
		return err
	}
	// Null takes the pin away; nothing is a mistake.
	var given map[string]any
	if in.Message == nil && wire.Decode(b, &given) == nil {
		if _, ok := given["message"]; !ok {
			return wire.Invalid("message is required: a text or null")
		}
	}
	if _, err := r.do(codelab.SetPin{Message: in.Message}); err != nil {
		return err
	}
	return r.ok()
}
