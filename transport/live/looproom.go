package live

import (
	"slices"
	"sync/atomic"

	"atelier/actors/room"
)

// recentSegments bounds the joined segments that a loop's room keeps for lagging sessions, at most
// 2 MiB per group.
const recentSegments = 32

// loopRoom is one loop's part of a room: the loop's sessions in the room and their common position.
// It exists as long as it has a session.
type loopRoom struct {
	// Immutable after loop.loopRoom.
	loop *loop
	// Immutable after loop.loopRoom.
	room *room.Room

	// True while this loopRoom is listed in the loop's inbox. Set by the publisher, cleared by the
	// loop.
	dirty atomic.Bool
	// The time at which dirty was set, on the hub's clock. Set by the publisher that set dirty,
	// read by the loop.
	since atomic.Int64

	// Owned by the loop goroutine. The position up to which every session that keeps up has been
	// served, or will be by the current fan-out.
	at position
	// Owned by the loop goroutine. The number of the latest step of a fan-out.
	fanout uint64
	// Owned by the loop goroutine. The end of each step of the current fan-out; the first entry is
	// its start, after the step numbered base.
	steps []position
	base  uint64
	// Owned by the loop goroutine. spans[i] contains the frames from steps[i] to the last step, or
	// nil until they are needed. All spans are from the room's revision spansOf.
	spans   []*segment
	spansOf uint64
	// Owned by the loop goroutine. The remaining visits in the first round of the fan-out, and its
	// payload bytes.
	visits, bytes int
	// Owned by the loop goroutine.
	groups [groups]group
	// Owned by the loop goroutine. One session per person, which links to the person's other
	// sessions.
	people map[string]*Session
	// Owned by the loop goroutine. The number of lagging sessions.
	lagging int
	// Owned by the loop goroutine. Segments that other lagging sessions can need.
	recent []*segment
	// Owned by the loop goroutine. The revision of the room from which recent was made.
	revision uint64
	// Owned by the loop goroutine. The sessions that a step singles out, in memory that is reused.
	singled []*Session
}

// group contains the sessions of a loop's room that are sent the same bytes, except where a frame
// singles a session out. Owned by the loop goroutine.
type group struct {
	members []*Session
	// cursor is the next session to visit. left is the number of visits until all sessions are up
	// to date, and 0 outside of fan-outs.
	cursor, left int
	// before is the step that all sessions had received when the visits began.
	before uint64
}

// due schedules one visit of each session, unless no visit is pending and the step has no frames
// for the group.
func (grp *group) due(step uint64, seg *segment, g int) {
	if grp.left == 0 {
		if p, _ := seg.forGroup(g); len(p) == 0 {
			return
		}
		grp.before = step - 1
	}
	grp.left = len(grp.members)
}

// Wake implements room.Waker. If the loop's room is already in the inbox, Wake costs one atomic load.
func (h *loopRoom) Wake() {
	if h.dirty.Load() || h.dirty.Swap(true) {
		return
	}
	if h.loop.hub.opts.Delivered != nil {
		h.since.Store(h.loop.hub.now())
	}
	h.loop.add(func(w *work) { w.rooms = append(w.rooms, h) })
}

// loopRoom returns the loop's part of a room, and creates it if necessary.
func (l *loop) loopRoom(r *room.Room) *loopRoom {
	if h := l.rooms[r]; h != nil {
		return h
	}
	h := &loopRoom{loop: l, room: r, people: make(map[string]*Session)}
	r.Subscribe(h)
	// The position is read after Subscribe, so that frames published from here on wake the loop's
	// room.
	h.at = position{stored: r.Head(), transient: r.TransientHead()}
	h.revision = r.Revision()
	l.rooms[r] = h
	return h
}

// enter adds a session. The session takes part from the next fan-out on.
func (h *loopRoom) enter(s *Session) {
	s.loopRoom = h
	s.next = h.fanout + 1
	g := s.group()
	grp := &h.groups[g]
	s.place = len(grp.members)
	grp.members = append(grp.members, s)
	if first := h.people[s.person]; first != nil {
		s.after = first
		first.before = s
	}
	h.people[s.person] = s
}

// leave removes a session, and with the last session the loop's room. It must not be called while a
// fan-out visits the groups.
func (h *loopRoom) leave(s *Session) {
	grp := &h.groups[s.group()]
	last := len(grp.members) - 1
	moved := grp.members[last]
	grp.members[s.place], moved.place = moved, s.place
	grp.members[last] = nil
	if grp.members = grp.members[:last]; grp.cursor >= last {
		grp.cursor = 0
	}

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

// segment returns the next frames after a position, up to a limit: at most segmentBytes of payload,
// or one larger frame. It returns nil if the position has left the room's window. While sessions
// lag, equal requests share one segment.
func (h *loopRoom) segment(from, limit uint64) *segment {
	if revision := h.room.Revision(); revision != h.revision {
		h.recent, h.revision = nil, revision
	}
	for _, seg := range h.recent {
		if seg.from == from && seg.to <= limit {
			return seg
		}
	}
	seg := h.loop.spareSegment()
	frames, to, ok := h.room.After(from, seg.frames[:0], segmentBytes)
	if !ok {
		return nil
	}
	frames, to = until(frames, to, limit)
	seg.fill(h.room.Epoch(), from, to, frames)
	if h.lagging > 0 {
		if len(h.recent) == recentSegments {
			h.recent = slices.Delete(h.recent, 0, 1)
		}
		h.recent = append(h.recent, seg)
	}
	return seg
}
