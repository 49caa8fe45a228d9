package live

import (
	"math"
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

	// Owned by the loop goroutine. The position up to which every session that is
	// not behind has been served, or will be by the fan-out under way.
	at position
	// Owned by the loop goroutine. The number of the latest step of a fan-out.
	fanout uint64
	// Owned by the loop goroutine. Where each step of the fan-out under way has led;
	// the first is where it began, after the step numbered base.
	steps []position
	base  uint64
	// Owned by the loop goroutine. What lies between each of steps and the last,
	// as far as anybody needed it, of one revision of the room.
	spans   []*segment
	spansOf uint64
	// Owned by the loop goroutine. How many visits are left of the first round of the
	// fan-out, and how many payload bytes it has.
	visits, bytes int
	// Owned by the loop goroutine.
	groups [groups]group
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

// before says that something lies between the two.
func (p position) before(q position) bool { return p.stored < q.stored || p.transient < q.transient }

// group are the sessions of a loop's room that are sent the same, except where a
// frame singles one out. Owned by the loop goroutine.
type group struct {
	members []*Session
	// cursor is whose turn is next, and left how many visits until all have what
	// there is; 0 outside of fan-outs.
	cursor, left int
	// before is the number of the step that all had when the visits began.
	before uint64
}

// due has all visited once from now on, unless a step has nothing for them.
func (grp *group) due(step uint64, seg *segment, g int) {
	if grp.left == 0 {
		if p, _ := seg.forGroup(g); len(p) == 0 {
			return
		}
		grp.before = step - 1
	}
	grp.left = len(grp.members)
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
	grp := &h.groups[g]
	s.place = len(grp.members)
	grp.members = append(grp.members, s)
	if first := h.people[s.person]; first != nil {
		s.after = first
		first.before = s
	}
	h.people[s.person] = s
}

// leave removes a session, and the loop's room with its last one. It must not be
// called during a fan-out, which walks the groups.
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

// head is what is published.
func (h *loopRoom) head() position { return position{h.room.Head(), h.room.TransientHead()} }

// begin begins a fan-out.
func (h *loopRoom) begin() {
	h.base, h.steps = h.fanout, append(h.steps[:0], h.at)
	h.visits, h.bytes = 0, 0
	for g := range h.groups {
		h.visits += len(h.groups[g].members)
	}
}

// end forgets what only the fan-out needed.
func (h *loopRoom) end() {
	h.forgetSpans()
	h.steps = h.steps[:0]
}

// news returns what was published since the latest step, as much as is one write,
// and where it leads; false when the window has moved past the loop.
func (h *loopRoom) news() (seg *segment, to position, ok bool) {
	return h.between(h.at, position{math.MaxUint64, math.MaxUint64}, segmentBytes)
}

// stepped notes a step.
func (h *loopRoom) stepped(seg *segment, to position) {
	h.forgetSpans()
	h.spans = append(slices.Grow(h.spans, len(h.steps))[:len(h.steps)-1], seg)
	for i := range seg.frames {
		h.bytes += len(seg.frames[i].Payload)
	}
	h.fanout++
	h.at = to
	h.steps = append(h.steps, to)
}

// moved notes that the room has come on without a frame.
func (h *loopRoom) moved(to position) {
	h.at = to
	h.steps[len(h.steps)-1] = to
}

// had is the number of the step up to which a session that is not behind has been
// served.
func (h *loopRoom) had(s *Session) uint64 {
	if grp := &h.groups[s.group()]; grp.left > 0 {
		return max(s.next-1, grp.before)
	}
	return h.fanout
}

// reached returns what a session that is not behind has been served. During a
// fan-out that depends on whether its turn has come.
func (h *loopRoom) reached(s *Session) position {
	if had := h.had(s); had < h.fanout {
		return h.steps[had-h.base]
	}
	return h.at
}

// span returns what a session lacks that has had a step of the fan-out; nil when
// the window has moved past it.
func (h *loopRoom) span(had uint64) *segment {
	if revision := h.room.Revision(); revision != h.spansOf {
		h.forgetSpans()
		h.spansOf = revision
	}
	i := int(had - h.base)
	for len(h.spans) <= i {
		h.spans = append(h.spans, nil)
	}
	if h.spans[i] == nil {
		seg, _, ok := h.between(h.steps[i], h.at, math.MaxInt)
		if !ok {
			return nil
		}
		h.spans[i] = seg
	}
	return h.spans[i]
}

// forgetSpans lets their memory be used again, unless a session that is behind may
// hold part of one.
func (h *loopRoom) forgetSpans() {
	for _, seg := range h.spans {
		if seg != nil && h.lagging == 0 && len(h.loop.spare) < cap(h.loop.spare) {
			seg.forget()
			h.loop.spare = append(h.loop.spare, seg)
		}
	}
	clear(h.spans)
	h.spans = h.spans[:0]
}

// between returns what lies between two positions, stored frames first, at most
// this many bytes of either, and where that leads.
func (h *loopRoom) between(from, limit position, most int) (*segment, position, bool) {
	seg := h.loop.spareSegment()
	frames, stored, ok := h.room.After(from.stored, seg.frames[:0], most)
	if !ok {
		return nil, from, false
	}
	frames, stored = until(frames, stored, limit.stored)
	n := len(frames)
	frames, transient, missed := h.room.TransientsAfter(from.transient, frames, most)
	h.loop.count.missedTransients.Add(missed)
	if over := transient - min(transient, limit.transient); over > 0 {
		frames = frames[:max(n, len(frames)-int(over))]
	}
	seg.fill(h.room.Epoch(), from.stored, stored, frames)
	return seg, position{stored, transient}, true
}

// until cuts off what lies behind a limit.
func until(frames []room.Frame, to, limit uint64) ([]room.Frame, uint64) {
	for to > limit {
		if n := len(frames); n > 0 && frames[n-1].Seq > limit {
			frames = frames[:n-1]
			continue
		}
		to = limit
	}
	return frames, to
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
