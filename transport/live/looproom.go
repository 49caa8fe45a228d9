package live

import (
	"slices"
	"sync/atomic"

	"atelier/actors/room"
)

// recentSegments bounds how many joined segments a loop's room keeps for sessions that
// are behind, 2 MiB a group at most.
const recentSegments = 32

// loopRoom is one room as one loop sees it: the loop's sessions in it and how far
// they have been served. It exists while there is such a session.
type loopRoom struct {
	// Immutable after newLoopRoom.
	loop *loop
	// Immutable after newLoopRoom.
	room *room.Room

	// Set by the publisher, cleared by the loop: the loop's room stands in the loop's
	// list of work.
	dirty atomic.Bool
	// Set by the publisher that made the loop's room dirty, read by the loop: when
	// that was, on the hub's clock.
	since atomic.Int64

	// Owned by the loop goroutine. The positions up to which every session
	// that is not behind has been served.
	at position
	// Owned by the loop goroutine. Those before the fan-out under way.
	was position
	// Owned by the loop goroutine. The number of the latest fan-out, and
	// whether it is still under way.
	fanout     uint64
	fanningOut bool
	// Owned by the loop goroutine.
	groups [groups][]*Session
	// Owned by the loop goroutine. One session of each person; the others
	// hang on it.
	people map[string]*Session
	// Owned by the loop goroutine. How many sessions are behind.
	lagging int
	// Owned by the loop goroutine. Segments that those behind will ask for.
	recent []*segment
	// Owned by the loop goroutine. The room's revision that recent is of.
	revision uint64
	// Owned by the loop goroutine. Scratch: the sessions singled out.
	singled []*Session
}

// position is a place in a room: of the stored frames and of the transients.
type position struct {
	stored, transient uint64
}

// Wake implements room.Waker. It costs one atomic load while the loop has not
// come round to the loop's room since the last call.
func (h *loopRoom) Wake() {
	if h.dirty.Load() || h.dirty.Swap(true) {
		return
	}
	if h.loop.hub.opts.Delivered != nil {
		h.since.Store(h.loop.hub.now())
	}
	h.loop.add(func(w *work) { w.rooms = append(w.rooms, h) })
}

// loopRoom returns the loop's view of a room, new if need be.
func (l *loop) loopRoom(r *room.Room) *loopRoom {
	if h := l.rooms[r]; h != nil {
		return h
	}
	h := &loopRoom{loop: l, room: r, people: make(map[string]*Session)}
	r.Subscribe(h)
	// After Subscribe: what is published from here on wakes the loop's room.
	h.at = position{stored: r.Head(), transient: r.TransientHead()}
	h.revision = r.Revision()
	l.rooms[r] = h
	return h
}

// enter adds a session, which takes part from the next fan-out on.
func (h *loopRoom) enter(s *Session) {
	s.loopRoom = h
	s.next = h.fanout + 1
	g := s.group()
	s.place = len(h.groups[g])
	h.groups[g] = append(h.groups[g], s)
	if first := h.people[s.person]; first != nil {
		s.after = first
		first.before = s
	}
	h.people[s.person] = s
}

// leave removes a session, and the loop's room with its last one. It must not be
// called during a fan-out, which walks the groups.
func (h *loopRoom) leave(s *Session) {
	g := s.group()
	last := len(h.groups[g]) - 1
	moved := h.groups[g][last]
	h.groups[g][s.place], moved.place = moved, s.place
	h.groups[g][last] = nil
	h.groups[g] = h.groups[g][:last]

	switch {
	case s.before != nil:
		s.before.after = s.after
	case s.after != nil:
		h.people[s.person] = s.after
	default:
		delete(h.people, s.person)
	}
	if s.after != nil {
		s.after.before = s.before
	}
	s.before, s.after = nil, nil

	if len(h.people) == 0 {
		h.room.Unsubscribe(h)
		delete(h.loop.rooms, h.room)
	}
}

// reached returns what a session that is not behind has been served. During a
// fan-out that depends on whether its turn has come.
func (h *loopRoom) reached(s *Session) position {
	if h.fanningOut && s.next <= h.fanout {
		return h.was
	}
	return h.at
}

// segment returns what follows a position, up to a limit; nil when the room's
// window does not reach back so far. It is shared by all who ask for the same
// while somebody is behind.
func (h *loopRoom) segment(from, limit uint64) *segment {
	if revision := h.room.Revision(); revision != h.revision {
		h.recent, h.revision = nil, revision
	}
	for _, seg := range h.recent {
		if seg.from == from && seg.to <= limit {
			return seg
		}
	}
	seg := h.loop.spare
	h.loop.spare = nil
	if seg == nil {
		seg = new(segment)
	}
	frames, to, ok := h.room.After(from, seg.frames[:0], segmentBytes)
	if !ok {
		return nil
	}
	for to > limit {
		if n := len(frames); n > 0 && frames[n-1].Seq > limit {
			frames = frames[:n-1]
			continue
		}
		to = limit
	}
	seg.fill(h.room.Epoch(), from, to, frames)
	if h.lagging > 0 {
		if len(h.recent) == recentSegments {
			h.recent = slices.Delete(h.recent, 0, 1)
		}
		h.recent = append(h.recent, seg)
	}
	return seg
}

// recycle keeps a segment's memory for the next one, unless a session that is
// behind may hold part of it.
func (h *loopRoom) recycle(seg *segment) {
	if h.lagging == 0 {
		seg.forget()
		h.loop.spare = seg
	}
}
