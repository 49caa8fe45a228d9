package rest

import (
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// pulseRecord is the state that an attendee reports for a step (RULES.md, "Live teaching").
type pulseRecord struct {
	State      string `json:"state" enum:"fine|slow|stuck"`
	StepNumber int32  `json:"step_number" range:"1.."`
	At         string `json:"at" is:"Timestamp"`
}

func toPulse(p *pb.Pulse) *pulseRecord {
	if p == nil {
		return nil
	}
	return &pulseRecord{PulseText(p.State), p.StepNumber, wire.Stamp(p.At)}
}

// PulseStates lists the names of the states, in the order of their numbers from 1.
var PulseStates = []string{"fine", "slow", "stuck"}

// PulseText returns the name of a state, or "" for no state.
func PulseText(s pb.PulseState) string {
	if s < 1 || int(s) > len(PulseStates) {
		return ""
	}
	return PulseStates[s-1]
}

// PulseState returns the state with a name. It returns no state for "" and unknown names.
func PulseState(name string) pb.PulseState {
	return pb.PulseState(slices.Index(PulseStates, name) + 1)
}

// Pulses counts attendees by reported state, as sent to clients.
type Pulses struct {
	Fine  int `json:"fine"`
	Slow  int `json:"slow"`
	Stuck int `json:"stuck"`
}

// ToPulses returns the counts as sent to clients.
func ToPulses(p codelab.Pulses) *Pulses { return &Pulses{p.Fine, p.Slow, p.Stuck} }
