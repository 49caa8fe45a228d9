package live

import (
	"math"
	"slices"

	"atelier/actors/room"
)

// This file tracks the progress of a fan-out and its sessions. A fan-out takes its frames in steps.
// The first step begins the fan-out. Another step follows whenever frames published during the
// first round of visits are added.

// position is a position in a room. It consists of the positions among stored frames and among
// transients.
type position struct {
	stored, transient uint64
}

// before reports whether q is ahead of p, among stored frames or among transients.
func (p position) before(q position) bool { return p.stored < q.stored || p.transient < q.transient }

// headOf returns the position of the newest frames in a room.
func headOf(r *room.Room) position { return position{r.Head(), r.TransientHead()} }

func (h *loopRoom) head() position { return headOf(h.room) }

// begin begins a fan-out.
func (h *loopRoom) begin() {
	h.base, h.steps = h.fanout, append(h.steps[:0], h.at)
	h.visits, h.bytes = 0, 0
	for g := range h.groups {
		h.visits += len(h.groups[g].members)
	}
}

// unfinished reports whether a session still waits for a visit. This can be a session of a group
// that was already visited, if a later step has frames for this group.
func (h *loopRoom) unfinished() bool {
	for g := range h.groups {
		if h.groups[g].left > 0 {
			return true
		}
	}
	return false
}

// end frees the state of the fan-out.
func (h *loopRoom) end() {
	h.forgetSpans()
	h.steps = h.steps[:0]
}

// news returns the frames published since the latest step, and the position after them. The stored
// frames and the transients are each limited to segmentBytes of payload, or to one larger frame. It
// returns false if the room's window no longer contains the loop's position.
func (h *loopRoom) news() (seg *segment, to position, ok bool) {
	return h.between(h.at, position{math.MaxUint64, math.MaxUint64}, segmentBytes)
}

// stepped records a step with its frames and its end.
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

// moved advances the position of the loop's room without a step.
func (h *loopRoom) moved(to position) {
	h.at = to
	h.steps[len(h.steps)-1] = to
}

// had returns the last step received by a session that is not behind.
func (h *loopRoom) had(s *Session) uint64 {
	if grp := &h.groups[s.group()]; grp.left > 0 {
		return max(s.next-1, grp.before)
	}
	return h.fanout
}

// reached returns the position of a session that is not behind. During a fan-out the result depends
// on whether the session was already visited.
func (h *loopRoom) reached(s *Session) position {
	if had := h.had(s); had < h.fanout {
		return h.steps[had-h.base]
	}
	return h.at
}

// span returns the frames that a session lacks if had is the last step that it received. It returns
// nil if the room's window no longer contains these frames.
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

// forgetSpans frees the memory of the spans for reuse, unless a lagging session can hold part of a
// span.
func (h *loopRoom) forgetSpans() {
	for _, seg := range h.spans {
		if seg != nil && h.lagging == 0 {
			h.loop.reuse(seg)
		}
	}
	clear(h.spans)
	h.spans = h.spans[:0]
}

// between returns the frames between two positions, stored frames first, and the position that they
// reach. most bounds the payload bytes of each kind, except that one frame is always returned.
// between returns false if the room's window does not contain the first position.
func (h *loopRoom) between(from, limit position, most int) (*segment, position, bool) {
	seg := h.loop.spareSegment()
	frames, stored, ok := h.room.After(from.stored, seg.frames[:0], most)
	if !ok {
		return nil, from, false
	}
	frames, stored = until(frames, stored, limit.stored)
	n := len(frames)
	frames, transient, missed := h.room.TransientsAfter(from.transient, frames, most)
	if over := transient - min(transient, limit.transient); over > 0 {
		frames = frames[:max(n, len(frames)-int(over))]
	}
	seg.fill(h.room.Epoch(), from.stored, stored, frames)
	seg.missed = missed
	return seg, position{stored, transient}, true
}

// until cuts off the frames after a limit. It returns the remaining frames and their end.
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
