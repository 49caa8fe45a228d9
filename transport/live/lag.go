package live

// catchUpBudget is the number of bytes after which a lagging session waits for the loop's next
// turn. Without it a fast reader that is far behind would delay the other sessions of its loop.
const catchUpBudget = 4 * segmentBytes

// lag is the state of a session that did not keep up with its loop's room, or that has just
// returned and is catching up. Its memory is bounded: a segment, which it mostly shares with other
// sessions, a control frame and the outbox.
type lag struct {
	// rest contains the bytes still to be written. They can begin in the middle of a frame.
	rest []byte
	// control is a pong, or our close frame, that is sent after rest.
	control []byte
	// at is the position up to which the session has been served, counting rest as served.
	at position
	// since is the time at which the session fell behind or was last sent a resync. moved is the
	// time at which its socket last accepted a byte.
	since, moved int64
	// returning means that the session began at an earlier position than its loop's room, and has
	// not caught up or resynced since. It is exempt from the limits on lag in bytes and in time.
	returning bool
	// soon means that the session is in the loop's list of sessions to resume.
	soon bool
}

// fallBehind makes a session lag. rest contains the bytes that its socket did not accept, if any.
func (l *loop) fallBehind(s *Session, rest []byte) {
	s.lag = &lag{rest: rest, at: s.loopRoom.reached(s), since: l.now, moved: l.now}
	s.loopRoom.lagging++
	l.count.slow.Add(1)
}

// catchesUp ends a session's lag.
func (l *loop) catchesUp(s *Session) {
	h := s.loopRoom
	s.lag = nil
	// The session already has all frames of the current fan-out, if there is one.
	s.next = h.fanout + 1
	if h.lagging--; h.lagging == 0 {
		h.recent = nil
	}
	l.count.slow.Add(-1)
}

// resumeSoon schedules a session to continue in the loop's next turn.
func (l *loop) resumeSoon(s *Session) {
	if !s.lag.soon {
		s.lag.soon = true
		l.soon = append(l.soon, s)
	}
}

// resume writes to a lagging session until it has caught up, its socket accepts no more, or its
// budget for the turn is used.
func (l *loop) resume(s *Session) {
	g := s.lag
	for budget := catchUpBudget; ; {
		if len(g.rest) == 0 {
			if g.rest = l.nextFor(s); s.state == closed {
				return
			}
			if len(g.rest) == 0 {
				l.catchesUp(s)
				return
			}
		}
		n, ok := l.write(s, g.rest)
		if !ok {
			return
		}
		if n > 0 {
			g.moved = l.now
		}
		if g.rest = g.rest[n:]; len(g.rest) > 0 {
			return // the poller reports when the socket is writable
		}
		if budget -= n; budget <= 0 {
			l.resumeSoon(s)
			return
		}
	}
}

// nextFor returns the next bytes for a lagging session, or nothing once it has caught up. It can
// close the session.
func (l *loop) nextFor(s *Session) []byte {
	g, h := s.lag, s.loopRoom
	if p := g.control; p != nil {
		g.control = nil
		return p
	}
	for s.state == open {
		outbound, more := s.outbox.take(l.outbound[:0], g.at.stored)
		if len(outbound) > 0 {
			if p := l.appendOutbound(s, nil, outbound); len(p) > 0 {
				return p
			}
			break // SSE has no close frame
		}
		if g.at.stored >= h.at.stored {
			if more {
				l.flushAgain(s)
			}
			return l.nextTransients(s)
		}
		seg, why := l.nextSegment(s)
		if seg == nil {
			return l.skip(s, why)
		}
		g.at.stored = seg.to
		p, frames := seg.forSession(s)
		if len(p) > 0 {
			l.count.deliveries.Add(uint64(frames))
			return p
		}
	}
	if s.hangup {
		l.drop(s, s.reason)
	}
	return nil
}

// nextSegment returns the next segment for a lagging session. If it returns nil, the session must
// resync for the returned reason.
func (l *loop) nextSegment(s *Session) (*segment, Resync) {
	g, h, o := s.lag, s.loopRoom, &l.hub.opts
	if !g.returning {
		if l.now-g.since > int64(o.SlowTimeout) {
			return nil, ResyncTime
		}
		if h.room.Behind(g.at.stored) > o.MaxBehind {
			return nil, ResyncBytes
		}
	}
	return h.segment(g.at.stored, h.at.stored), ResyncOvertaken
}

// skip moves a session to the position of its loopRoom and returns the resync to send.
func (l *loop) skip(s *Session, why Resync) []byte {
	l.count.resyncs[why].Add(1)
	g := s.lag
	g.at, g.since, g.returning = s.loopRoom.at, l.now, false
	return s.stamp(nil, g.at.stored, s.resync(g.at.stored, why.String()))
}

// nextTransients returns the transients that a session has not received and that are still
// available.
func (l *loop) nextTransients(s *Session) []byte {
	g, h := s.lag, s.loopRoom
	for g.at.transient < h.at.transient {
		frames, to, missed := h.room.TransientsAfter(g.at.transient, nil, segmentBytes)
		l.count.missedTransients.Add(missed)
		// The room can be ahead of the loop's room. The next fan-out of the loop's room sends the
		// newer transients.
		if to > h.at.transient {
			frames = frames[:max(0, len(frames)-int(to-h.at.transient))]
			to = h.at.transient
		}
		g.at.transient = to
		seg := segment{frames: frames}
		if p, count := seg.build(s); len(p) > 0 {
			l.count.deliveries.Add(uint64(count))
			return p
		}
	}
	return nil
}
