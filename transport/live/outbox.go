package live

import "sync"

// outbox is the private queue of a session: answers, errors, signalling, and possibly the close as
// the last entry. Any goroutine adds messages, and the loop takes them.
type outbox struct {
	mu sync.Mutex
	// Guarded by mu. Nil while empty.
	outbound []outboundMessage
	// Guarded by mu. The payload bytes of outbound messages.
	bytes int
	// Guarded by mu. The session is in its loop's list of outboxes.
	queued bool
	// Guarded by mu. If set, new messages are refused.
	shut bool
}

// outboundMessage is a private payload, or the close of the session.
type outboundMessage struct {
	payload []byte
	// after is the position that the session must reach before it gets the message: the room's head
	// when the message was sent.
	after uint64
	// end is set only for a close.
	end *ending
}

// ending contains the code and text of a session's close frame, and the reason for the close.
type ending struct {
	code   int
	text   string
	reason Reason
}

// verdict is the result of outbox.put.
type verdict uint8

const (
	// accepted: the message is queued, and the session is already in its loop's list.
	accepted verdict = iota
	// acceptedFirst: the message is queued, and the caller must notify the loop.
	acceptedFirst
	// refused: the outbox is shut.
	refused
	// overflowed: the outbox was full. The outbox is now empty and shut, and the caller must end
	// the session.
	overflowed
)

// put adds a message. limit bounds the payload bytes of the queue.
func (o *outbox) put(m outboundMessage, limit int) verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		return refused
	}
	if o.bytes+len(m.payload) > limit {
		// All messages are dropped and the session closes. A client can notice a closed connection,
		// but not that one answer is missing among others.
		o.outbound, o.bytes, o.shut = nil, 0, true
		return overflowed
	}
	o.outbound = append(o.outbound, m)
	o.bytes += len(m.payload)
	o.shut = m.end != nil
	if o.queued {
		return accepted
	}
	o.queued = true
	return acceptedFirst
}

// take appends to dst the outbound messages that a session at this position is permitted to get.
// more reports whether other messages remain.
func (o *outbox) take(dst []outboundMessage, position uint64) (due []outboundMessage, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queued = false
	n := 0
	for n < len(o.outbound) && o.outbound[n].after <= position {
		o.bytes -= len(o.outbound[n].payload)
		n++
	}
	dst = append(dst, o.outbound[:n]...)
	if o.outbound = o.outbound[n:]; len(o.outbound) == 0 {
		o.outbound = nil
	}
	return dst, o.outbound != nil
}

// ending returns the queued close, or nil.
func (o *outbox) ending() *ending {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.shut || len(o.outbound) == 0 {
		return nil
	}
	return o.outbound[len(o.outbound)-1].end
}

// close drops the queue and refuses all further messages.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.outbound, o.bytes, o.shut = nil, 0, true
}
