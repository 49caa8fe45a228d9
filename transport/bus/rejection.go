package bus

import "sync/atomic"

// Rejection is the reason why a message from NATS was dropped.
type Rejection uint8

const (
	accepted Rejection = iota
	// Malformed: it is not a message of this format.
	Malformed
	// Forged: its sender does not have the secret or made it for another subject, or it was
	// changed in transit.
	Forged
	// Replayed: it was already received.
	Replayed
	// Late: it was made before its sender was known here, or arrived so long after later messages
	// of its sender that replay cannot be excluded.
	Late
	// StaleReceiver: it was made for an earlier session of this node.
	StaleReceiver
	// UnknownSender: its sender has not proved that it is alive, because it is new or an earlier
	// session.
	UnknownSender
	// Unasked: it answers a request that this node has not made, or no longer waits for.
	Unasked
	// Overflow: it is part of a larger message. There is no space for that message, or the part has
	// already arrived.
	Overflow

	rejections
)

// String returns the reason's name in metrics.
func (r Rejection) String() string {
	return [rejections]string{"accepted", "malformed", "forged", "replayed", "late", "stale_receiver", "unknown_sender", "unasked", "overflow"}[r]
}

// Rejections returns all reasons.
func Rejections() (all []Rejection) {
	for r := accepted + 1; r < rejections; r++ {
		all = append(all, r)
	}
	return all
}

// rejected counts messages by reason.
type rejected [rejections]atomic.Uint64

func (r *rejected) read() (out Rejected) {
	for i := range r {
		out[i] = r[i].Load()
	}
	return out
}

// Rejected are the counts of messages by Rejection.
type Rejected [rejections]uint64
