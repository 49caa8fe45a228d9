package live

import "atelier/transport/rfc6455"

// beginClose starts to close an open session, and appends the close frame to dst. SSE has no close
// frame. The server sends nothing after the result.
func (l *loop) beginClose(s *Session, dst []byte, e ending) []byte {
	if s.state != open {
		return dst
	}
	s.state = closing
	l.beginLeaving(s, e.reason)
	s.outbox.close()
	if s.protocol == SSE {
		s.hangup = true
		return dst
	}
	return rfc6455.AppendClose(dst, e.code, e.text)
}

// beginLeaving records why a session ends, and starts Options.CloseGrace, the time limit for the
// end. If the session is already ending, the first reason and time remain.
func (l *loop) beginLeaving(s *Session, reason Reason) {
	if s.leaving == 0 {
		s.leaving, s.reason = l.now, reason
	}
}

// endNow closes a session without sending what is queued for it. Only the bytes of an incomplete
// write are sent first, because they can begin in the middle of a frame.
func (l *loop) endNow(s *Session, e ending) {
	if s.state != open {
		return
	}
	frame := l.beginClose(s, nil, e)
	if s.lag == nil {
		l.writeNow(s, frame)
		return
	}
	s.lag.control = frame
	if len(s.lag.rest) == 0 {
		l.resumeSoon(s)
	}
}

// drop ends a session: it closes the session's wire and notifies the owner. During a fan-out the
// closed session stays in its group until the fan-out ends.
func (l *loop) drop(s *Session, reason Reason) {
	if s.state != closed {
		s.wire.close()
		l.bury(s, reason)
	}
}

// abort ends a session like drop, but does not deliver pending bytes.
func (l *loop) abort(s *Session, reason Reason) {
	if s.state != closed {
		s.wire.abort()
		l.bury(s, reason)
	}
}

// bury removes a session whose wire was closed, and calls Handler.Closed. If the session was already
// ending, its first reason replaces the given one.
func (l *loop) bury(s *Session, reason Reason) {
	if s.leaving != 0 {
		reason = s.reason
	}
	s.state = closed
	s.partial = nil
	s.outbox.close()
	if s.lag != nil {
		l.catchesUp(s)
	}
	delete(l.sessions, s.id)
	l.gone = append(l.gone, s)
	if !l.fanningOut {
		l.sweep()
	}
	l.count.closes[reason].Add(1)
	s.handler.Closed(s, reason)
	// The count changes last, so that code that waits for it can rely on the preceding steps.
	l.count.sessions.Add(-1)
}

// sweep removes ended sessions from their rooms.
func (l *loop) sweep() {
	for _, s := range l.gone {
		s.loopRoom.leave(s)
	}
	clear(l.gone)
	l.gone = l.gone[:0]
}
