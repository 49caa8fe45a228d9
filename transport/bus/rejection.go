package bus

import "sync/atomic"

// Rejection is why a message of NATS was not heard.
type Rejection uint8

const (
	accepted Rejection = iota
	// Malformed: it is none of ours, or of a program that seals in another way.
	Malformed
	// Forged: its maker does not know the secret, or made it for another
	// subject, or it was changed on the way.
	Forged
	// Replayed: it was heard already.
	Replayed
	// Late: it came so far behind others of its sender that it cannot be told
	// whether it was heard; or it was made before the sender was known here.
	Late
	// StaleReceiver: it was made for an earlier session of this node.
	StaleReceiver
	// UnknownSender: its sender has not shown that it lives: it has just come, or
	// it is an earlier session.
	UnknownSender
	// Unasked: it answers a question that nobody asks, or asks no more.
	Unasked
	// Overflow: it is a part of a message for which there is no room, or which
	// has this part already.
	Overflow

	rejections
)

// String is the reason's name in metrics.
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
