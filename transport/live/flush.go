package live

// flush sends the messages in a session's outbox for which the session has reached the position.
func (l *loop) flush(s *Session) {
	if s.state == closed {
		return
	}
	if s.lag != nil {
		if len(s.lag.rest) == 0 {
			l.resume(s)
		} else if end := s.outbox.ending(); end != nil {
			l.beginLeaving(s, end.reason)
		}
		return // resume also empties the outbox
	}
	if !l.mail(s) {
		return
	}
	// The remaining messages follow frames that the loop has not sent yet. The room's wake-up may
	// still be pending, and an event without a frame causes no wake-up. The fan-out does not happen
	// now: one fan-out per waiting answer would delay everything else.
	if h := s.loopRoom; h.at.stored < s.room.Head() {
		h.Wake()
	}
	l.flushAgain(s)
}

// flushMidway empties outboxes during a fan-out, as far as the order allows: a session that has
// just received a frame can get the answer that follows it. Without flushMidway an ack would take
// as long as the whole fan-out (BenchmarkAckInFanout). Other outboxes wait until the end of the
// fan-out.
func (l *loop) flushMidway() {
	l.held = l.inbox.takeOutboxes(l.held)
	kept := l.held[:0]
	for _, s := range l.held {
		switch {
		case s.state == closed:
		case s.state != open, s.lag != nil:
			kept = append(kept, s)
		default:
			if l.mail(s) {
				kept = append(kept, s)
			}
		}
	}
	clear(l.held[len(kept):])
	l.held = kept
}

// mail writes the outbound messages of a session that is not behind, up to its position in the
// room. It reports whether outbound messages remain.
func (l *loop) mail(s *Session) (more bool) {
	l.outbound, more = s.outbox.take(l.outbound[:0], s.loopRoom.reached(s).stored)
	l.out = l.appendOutbound(s, l.out[:0], l.outbound)
	clear(l.outbound)
	l.writeNow(s, l.out)
	return more
}

// flushHeld empties the outboxes at the end of a turn's fan-outs.
func (l *loop) flushHeld() {
	held := l.held
	l.held = l.spareHeld[:0]
	for _, s := range held {
		if s.loopRoom == nil { // the session's join is still in the inbox
			l.held = append(l.held, s)
			continue
		}
		l.flush(s)
	}
	clear(held)
	l.spareHeld = held[:0]
}

// flushAgain schedules another flush of a session for the next turn, because some of its outbound
// messages follow frames that the loop has not sent yet. Their sender may have found the session
// already in the list, and then does not wake the loop again.
func (l *loop) flushAgain(s *Session) {
	l.add(func(w *work) { w.outboxes = append(w.outboxes, s) })
}

// appendOutbound appends the encoding of outbound messages. A close is always the last of them.
func (l *loop) appendOutbound(s *Session, dst []byte, outbound []outboundMessage) []byte {
	for i := range outbound {
		if end := outbound[i].end; end != nil {
			return l.beginClose(s, dst, *end)
		}
		dst = s.appendPrivate(dst, outbound[i].payload)
		l.count.private.Add(1)
	}
	return dst
}

// writeNow writes bytes to a session that is not behind. If the session is to hang up and all bytes
// were written, writeNow drops it. The slice can be reused afterwards.
func (l *loop) writeNow(s *Session, p []byte) {
	if s.state == closed {
		return
	}
	if len(p) > 0 {
		n, ok := l.write(s, p)
		if !ok {
			return
		}
		if n < len(p) {
			l.fallBehind(s, append([]byte(nil), p[n:]...))
			return
		}
	}
	if s.hangup {
		l.drop(s, s.reason)
	}
}
