package bus

import "sync/atomic"

// Rejection is the reason why a message from NATS was dropped.
type Rejection uint8

const (
	accepted Rejection = iota
	// Malformed: the message, or the greeting in it, does not have the expected format.
	Malformed
	// Forged: the sender does not have the secret or made the message for another subject, the
	// message was changed in transit, or its sealed content is malformed.
	Forged
	// Replayed: the message was already received, or it is a greeting whose token is not valid any
	// more.
	Replayed
	// Late: the message was made before this node had its sender's session. Or it arrived so long
	// after the sender's later messages that a replay cannot be excluded.
	Late
	// StaleReceiver: the message was made for an earlier session of this node.
	StaleReceiver
	// UnknownSender: the sending session has not proved that it is alive, because it is new or it
	// is an earlier session.
	UnknownSender
	// Unasked: the message answers a request that this node has not made, or no longer waits for.
	Unasked
	// Overflow: the message is a part of a larger message. No space is left for the larger message,
	// the part has already arrived, or it contradicts the earlier parts.
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

// Rejected contains the number of dropped messages by Rejection.
type Rejected [rejections]uint64
