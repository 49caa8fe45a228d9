package live

import "sync"

// outbox is the private queue of a session: answers, errors, signalling, and
// at the end perhaps the close. Any goroutine puts, the loop takes.
type outbox struct {
	mu sync.Mutex
	// Guarded by mu. Nil while nothing waits.
	letters []letter
	// Guarded by mu. The payload bytes of letters.
	bytes int
	// Guarded by mu. The session stands in its loop's list of outboxes.
	queued bool
	// Guarded by mu. Nothing is accepted any more.
	shut bool
}

// letter is one private payload, or the close of the session.
type letter struct {
	payload []byte
	// after is the position the session must have reached before it gets the
	// letter: the room's head when it was sent.
	after uint64
	// end is not nil for a close.
	end *ending
}

// ending is how and why a session is closed.
type ending struct {
	code   int
	text   string
	reason Reason
}

type verdict uint8

const (
	// accepted: the letter is in, and the session already in its loop's list.
	accepted verdict = iota
	// acceptedFirst: the letter is in, and the caller must tell the loop.
	acceptedFirst
	// refused: the outbox is shut.
	refused
	// overflowed: the outbox was full; it is now empty and shut, and the caller
	// must end the session.
	overflowed
)

func (o *outbox) put(m letter, limit int) verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		return refused
	}
	if o.bytes+len(m.payload) > limit {
		// Everything is dropped, not only this: an answer missing between two
		// others could not be noticed, a closed connection can.
		o.letters, o.bytes, o.shut = nil, 0, true
		return overflowed
	}
	o.letters = append(o.letters, m)
	o.bytes += len(m.payload)
	o.shut = m.end != nil
	if o.queued {
		return accepted
	}
	o.queued = true
	return acceptedFirst
}

// take moves to dst the letters that a session at this position may get. More
// reports whether others remain.
func (o *outbox) take(dst []letter, position uint64) (due []letter, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queued = false
	n := 0
	for n < len(o.letters) && o.letters[n].after <= position {
		o.bytes -= len(o.letters[n].payload)
		n++
	}
	dst = append(dst, o.letters[:n]...)
	if o.letters = o.letters[n:]; len(o.letters) == 0 {
		o.letters = nil
	}
	return dst, o.letters != nil
}

// ending returns the close that waits in the outbox, if there is one.
func (o *outbox) ending() *ending {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.shut || len(o.letters) == 0 {
		return nil
	}
	return o.letters[len(o.letters)-1].end
}

// close refuses everything from now on and forgets what waits.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.letters, o.bytes, o.shut = nil, 0, true
}
