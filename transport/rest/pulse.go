package rest

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// pulseRecord is how an attendee says they get on (decisions W14).
type pulseRecord struct {
	State      string `json:"state"`
	StepNumber int32  `json:"step_number"`
	At         string `json:"at"`
}

func toPulse(p *pb.Pulse) *pulseRecord {
	if p == nil {
		return nil
	}
	return &pulseRecord{PulseText(p.State), p.StepNumber, wire.Stamp(p.At)}
}

// PulseText is the name of a state; "" for none.
func PulseText(s pb.PulseState) string {
	switch s {
	case pb.PulseState_PULSE_STATE_FINE:
		return "fine"
	case pb.PulseState_PULSE_STATE_SLOW:
		return "slow"
	case pb.PulseState_PULSE_STATE_STUCK:
		return "stuck"
	}
	return ""
}

// Pulses counts what attendees say, as it goes out.
type Pulses struct {
	Fine  int `json:"fine"`
	Slow  int `json:"slow"`
	Stuck int `json:"stuck"`
}

// ToPulses is a count as it goes out.
func ToPulses(p codelab.Pulses) *Pulses { return &Pulses{p.Fine, p.Slow, p.Stuck} }
