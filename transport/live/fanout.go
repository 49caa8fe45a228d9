package live

import "atelier/actors/room"

// drain sends everything published up to now to the sessions of a loop's room.
func (l *loop) drain(h *loopRoom) {
	// The call ends at the current head, because later frames mark the loop's room dirty again.
	// Otherwise a client that publishes without a pause could keep the loop here.
	for head := h.head(); h.at.before(head); {
		before := h.at
		if l.fanOut(h); h.at == before {
			return
		}
	}
}

// fanOut visits the sessions of the loop's room and writes the missing frames to each session that
// keeps up. Frames published meanwhile can join the fan-out (see serveMeanwhile), and sessions
// already visited are then visited again. As a result, such a frame does not wait for the end of
// the fan-out, and sessions not yet visited receive all frames in one write.
func (l *loop) fanOut(h *loopRoom) {
	l.fanningOut = true
	h.begin()
	for l.step(h); h.unfinished(); {
		for g := range h.groups {
			l.walk(h, g)
		}
	}
	h.end()
	l.fanningOut = false
	l.sweep()
}

// step takes the frames published since the last step, and schedules visits to their recipients. It
// writes at once to the sessions that the frames single out, if their group awaits no visit.
func (l *loop) step(h *loopRoom) {
	seg, to, ok := h.news()
	switch {
	case !ok:
		l.overrun(h)
		return
	case len(seg.frames) == 0:
		h.moved(to)
		l.reuse(seg)
		return
	}
	h.stepped(seg, to)
	l.count.frames.Add(uint64(len(seg.frames)))
	h.single(seg)
	for g := range h.groups {
		h.groups[g].due(h.fanout, seg, g)
	}
	for _, s := range h.singled {
		// Only sessions whose group is not being visited get a visit here. In a group that is being
		// visited, they are visited later anyway.
		if grp := &h.groups[s.group()]; grp.left == 0 {
			p, frames := seg.build(s)
			l.deliver(s, p, frames)
		}
	}
	clear(h.singled)
	h.singled = h.singled[:0]
}

// walk visits each session of a group at most once, and then returns, so that the other groups
// continue.
func (l *loop) walk(h *loopRoom, g int) {
	grp := &h.groups[g]
	for range grp.members {
		if grp.left == 0 {
			return
		}
		s := grp.members[grp.cursor]
		grp.cursor = (grp.cursor + 1) % len(grp.members)
		l.visit(h, g, s)
		grp.left--
		h.visits--
		if l.sinceView >= l.hub.opts.writesBetweenPolls {
			l.serveMeanwhile(h)
		}
	}
}

// visit writes the missing frames to a session, unless it is behind or closing.
func (l *loop) visit(h *loopRoom, g int, s *Session) {
	had := h.had(s)
	if s.lag != nil || s.state != open || had >= h.fanout {
		return
	}
	seg := h.span(had)
	if seg == nil { // the position has left the window
		l.fallBehind(s, nil)
		l.resumeSoon(s)
		return
	}
	if seg.missed > 0 {
		l.count.missedTransients.Add(seg.missed)
	}
	p, frames := seg.forGroup(g)
	if s.single > had {
		p, frames = seg.build(s)
	}
	l.deliver(s, p, frames)
}

// deliver writes p to a session, unless the session is behind or closing. p contains the given
// number of frames, which are all frames for the session up to the newest step.
func (l *loop) deliver(s *Session, p []byte, frames int) {
	if s.lag != nil || s.state != open {
		return
	}
	s.next = s.loopRoom.fanout + 1
	if len(p) == 0 {
		return
	}
	l.sinceView++
	n, ok := l.write(s, p)
	if !ok {
		return
	}
	l.count.deliveries.Add(uint64(frames))
	if n < len(p) {
		l.fallBehind(s, p[n:])
	}
}

// serveMeanwhile serves sockets, newly published frames and due answers.
func (l *loop) serveMeanwhile(h *loopRoom) {
	l.sinceView = 0
	l.serve(l.poller.poll())
	// Published frames join the fan-out only in its first round, so that new sessions and other
	// rooms have their turn. They also join only while the fan-out's payload is smaller than
	// segmentBytes, because the last session receives all of it in one write.
	if h.visits > 0 && h.bytes < segmentBytes && h.at.before(h.head()) {
		l.step(h)
	}
	l.flushMidway()
}

// overrun handles the case that the loop's own position has left the room's window: all sessions of
// the loop's room are behind, and each of them must resync.
func (l *loop) overrun(h *loopRoom) {
	head := h.room.Head()
	for g := range h.groups {
		grp := &h.groups[g]
		for _, s := range grp.members {
			if s.lag == nil && s.state == open {
				l.fallBehind(s, nil)
				l.resumeSoon(s)
			}
		}
		grp.left = 0
	}
	h.moved(position{head, h.at.transient})
}

// single collects the sessions that get other bytes than the rest of their group in this step.
func (h *loopRoom) single(seg *segment) {
	for _, i := range seg.singles {
		f := &seg.frames[i]
		for _, person := range f.People {
			if person == "" {
				continue
			}
			for s := h.people[person]; s != nil; s = s.after {
				h.singleOut(s, f)
			}
		}
		if f.Origin != 0 {
			if s := h.loop.sessions[f.Origin]; s != nil && s.loopRoom == h {
				h.singleOut(s, f)
			}
		}
	}
}

func (h *loopRoom) singleOut(s *Session, f *room.Frame) {
	if s.single != h.fanout && s.wants(f) != f.Reaches("", s.facilitator) {
		s.single = h.fanout
		h.singled = append(h.singled, s)
	}
}
