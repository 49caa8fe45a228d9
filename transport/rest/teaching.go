package rest

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// taughtRecord is a codelab as its members see it: with what is pinned, and
// where the facilitators point (RULES.md, "Live teaching").
type taughtRecord struct {
	codelabRecord
	Pin     *pinRecord     `json:"pin"`
	Pointer *pointerRecord `json:"pointer"`
}

type pinRecord struct {
	Message string `json:"message"`
	At      string `json:"at"`
}

type pointerRecord struct {
	StepNumber int32  `json:"step_number"`
	Hints      bool   `json:"hints"`
	By         string `json:"by"`
	// Person is whose name By is.
	Person *string `json:"person"`
}

func toTaught(v *codelab.View, m *pb.Codelab, admin bool) taughtRecord {
	out := taughtRecord{codelabRecord: toCodelab(m, admin)}
	if p := v.Pin; p != nil {
		out.Pin = &pinRecord{p.Message, wire.Stamp(p.At)}
	}
	if p := v.Pointer; p != nil {
		out.Pointer = &pointerRecord{p.StepNumber, p.Hints, p.By, wire.OrNull(p.Leader)}
	}
	return out
}

func setPin(r *Request) error {
	b, err := r.Body()
	if err != nil {
		return err
	}
	var in struct {
		Message *string `json:"message"`
	}
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
