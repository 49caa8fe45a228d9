package live

import "atelier/transport/rfc6455"

// input processes bytes from a session's client. They are unmasked in place.
func (l *loop) input(s *Session, p []byte) {
	if s.state == closed {
		return
	}
	s.seen = l.now
	if s.protocol == SSE {
		return
	}
	if s.ignoresInput {
		// Only the answer to our close frame is awaited, but the client can complete an earlier
		// message first.
		_ = (&rfc6455.Decoder{}).Feed(p, l.hub.opts.MaxMessage, (*receiver)(s))
		l.pinged = false
		return
	}
	d := s.partial
	if d == nil {
		d = &l.decoder
	}
	l.pinged = false
	err := d.Feed(p, l.hub.opts.MaxMessage, (*receiver)(s))
	if s.state == closed {
		l.decoder = rfc6455.Decoder{}
		return
	}
	switch {
	case err != nil:
		l.decoder = rfc6455.Decoder{}
		s.partial, s.ignoresInput = nil, true
		l.endNow(s, ending{err.Code, err.Reason, ReasonProtocol})
		return
	case d.Idle():
		s.partial = nil
	case s.partial == nil:
		kept := l.decoder
		s.partial, l.decoder = &kept, rfc6455.Decoder{}
	}
	if l.pinged {
		l.answerPing(s)
	}
}

// answerPing sends a pong for the last ping among the bytes just read. Earlier pings among them get
// no answer, as RFC 6455, 5.5.3, permits. This limits the work that a flood of pings can cause.
func (l *loop) answerPing(s *Session) {
	if s.state != open {
		return
	}
	if g := s.lag; g != nil {
		g.control = rfc6455.AppendFrame(nil, rfc6455.Pong, l.ping)
		if len(g.rest) == 0 {
			l.resumeSoon(s)
		}
		return
	}
	l.out = rfc6455.AppendFrame(l.out[:0], rfc6455.Pong, l.ping)
	l.writeNow(s, l.out)
}

// receiver is a session, with the methods that its decoder calls.
type receiver Session

func (r *receiver) Message(payload []byte) {
	s := (*Session)(r)
	if s.state != open {
		return
	}
	l := s.loop
	l.count.messages.Add(1)
	if o := &l.hub.opts; o.MessageRate > 0 && !s.rate.take(l.now, o.MessageRate, o.MessageBurst) {
		l.count.limited.Add(1)
		s.handler.Limited(s, payload)
		return
	}
	s.handler.Message(s, payload)
}

func (r *receiver) Ping(payload []byte) {
	l := r.loop
	l.pinged = true
	l.ping = append(l.ping[:0], payload...)
}

func (r *receiver) Pong() {}

func (r *receiver) Closed(code int) {
	s := (*Session)(r)
	l := s.loop
	s.hangup = true
	switch {
	case s.state == open:
		l.endNow(s, ending{code, "", ReasonPeer})
	case s.lag == nil:
		// This frame is the answer to our own close.
		l.drop(s, s.reason)
	}
}

// bucket is a token bucket: one token returns every 1/rate seconds, up to burst tokens. The zero
// value is full.
type bucket struct {
	// used is the number of used tokens.
	used float64
	// at is the time for which used is valid, in nanoseconds.
	at int64
}

// take takes a token. It returns false if the bucket has no token.
func (b *bucket) take(now int64, rate, burst float64) bool {
	b.used = max(0, b.used-float64(now-b.at)/1e9*rate)
	b.at = now
	if b.used+1 > burst {
		return false
	}
	b.used++
	return true
}
