package live

import "atelier/actors/room"

// drain serves everything published up to now to the sessions of a loop's room.
func (l *loop) drain(h *loopRoom) {
	// What is published while the fan-out runs makes the loop's room dirty again; a
	// publisher that never rests cannot keep the loop here.
	for head := h.room.Head(); h.at.stored < head; {
		seg := h.segment(h.at.stored, head)
		if seg == nil {
			l.overrun(h, head)
			break
		}
		l.fanOut(h, seg, position{seg.to, h.at.transient})
		h.recycle(seg)
	}
	for {
		frames, to, missed := h.room.TransientsAfter(h.at.transient, l.transients[:0], segmentBytes)
		l.count.missedTransients.Add(missed)
		if len(frames) == 0 {
			h.at.transient = to
			return
		}
		// A segment of its own: the frames have no place among the stored.
		seg := new(segment)
		seg.fill(h.room.Epoch(), 0, 0, frames)
		l.fanOut(h, seg, position{h.at.stored, to})
		clear(frames)
		l.transients = frames[:0]
	}
}

// fanOut writes a segment to every session of the loop's room that is not behind: the
// same bytes to all of a group, except to those that a frame singles out.
func (l *loop) fanOut(h *loopRoom, seg *segment, to position) {
	h.was, h.at = h.at, to
	h.fanout++
	h.fanningOut, l.fanningOut = true, true
	l.count.frames.Add(uint64(len(seg.frames)))
	h.single(seg)
	for g, members := range h.groups {
		if len(members) == 0 {
			continue
		}
		p, frames := seg.forGroup(g)
		if len(p) == 0 {
			continue
		}
		for _, s := range members {
			if s.single != h.fanout {
				l.deliver(h, s, p, frames)
			}
		}
	}
	for _, s := range h.singled {
		p, frames := seg.build(s)
		l.deliver(h, s, p, frames)
	}
	clear(h.singled)
	h.singled = h.singled[:0]
	h.fanningOut, l.fanningOut = false, false
	l.sweep()
}

// single collects the sessions that get other bytes than their group.
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

// deliver gives a session its part of the fan-out under way.
func (l *loop) deliver(h *loopRoom, s *Session, p []byte, frames int) {
	if s.lag != nil || s.state != open || s.next > h.fanout {
		return
	}
	s.next = h.fanout + 1
	if len(p) == 0 {
		return
	}
	n, ok := l.write(s, p)
	if !ok {
		return
	}
	l.count.deliveries.Add(uint64(frames))
	if n < len(p) {
		l.fallBehind(s, p[n:])
	}
	if l.sinceView++; l.sinceView >= l.hub.opts.writesBetweenPolls {
		l.sinceView = 0
		l.serve(l.poller.poll())
		l.flushMidway()
	}
}

// overrun is what happens when the window has moved past the loop itself: all
// of its sessions are behind, and will be told so one by one.
func (l *loop) overrun(h *loopRoom, head uint64) {
	for _, members := range h.groups {
		for _, s := range members {
			if s.lag == nil && s.state == open {
				l.fallBehind(s, nil)
				l.resumeSoon(s)
			}
		}
	}
	h.at.stored = head
}
