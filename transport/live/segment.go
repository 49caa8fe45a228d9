package live

import "atelier/actors/room"

// segmentBytes bounds the payload of one segment, in bytes. Stored frames and transients have this
// limit each, and a single frame can exceed it. Larger writes save little: at 64 KiB the system call
// costs only 0.02 us per frame of 200 bytes. The socket of a client that reads should also accept a
// segment at once.
const segmentBytes = 64 << 10

// segment contains consecutive frames of a room, joined once for each group of sessions that gets
// the same bytes. Joined bytes are not modified, because lagging sessions hold parts of them.
type segment struct {
	// The segment holds the frames after from, up to and including to.
	from, to uint64
	epoch    string
	frames   []room.Frame
	// missed is the number of earlier transients that had already left their ring.
	missed uint64
	// singles lists the indexes of the frames that treat a session differently from its group.
	singles []int
	joined  [groups]joined
}

// joined contains the encoded frames for one group.
type joined struct {
	ready bool
	bytes []byte
	// frames is the number of frames in bytes.
	frames int
}

// fill replaces the segment's content with frames, which it takes over.
func (seg *segment) fill(epoch string, from, to uint64, frames []room.Frame) {
	seg.epoch, seg.from, seg.to, seg.frames, seg.missed = epoch, from, to, frames, 0
	seg.singles = seg.singles[:0]
	for i := range frames {
		if frames[i].Singles() {
			seg.singles = append(seg.singles, i)
		}
	}
	for g := range seg.joined {
		j := &seg.joined[g]
		j.ready, j.bytes, j.frames = false, j.bytes[:0], 0
	}
}

// forGroup returns the bytes for the sessions of a group, and the number of frames in them.
func (seg *segment) forGroup(g int) ([]byte, int) {
	j := &seg.joined[g]
	if !j.ready {
		j.ready = true
		protocol, facilitator := groupProtocol(g), groupIsFacilitators(g)
		for i := range seg.frames {
			if f := &seg.frames[i]; f.Reaches("", facilitator) {
				j.bytes = protocol.append(j.bytes, seg.epoch, f.Seq, f.Payload)
				j.frames++
			}
		}
	}
	return j.bytes, j.frames
}

// forSession returns the bytes for one session, and the number of frames in them. If possible, it
// returns the group's bytes.
func (seg *segment) forSession(s *Session) ([]byte, int) {
	for _, i := range seg.singles {
		f := &seg.frames[i]
		if s.wants(f) != f.Reaches("", s.facilitator) {
			return seg.build(s)
		}
	}
	return seg.forGroup(s.group())
}

// build joins the frames for one session alone.
func (seg *segment) build(s *Session) (p []byte, frames int) {
	for i := range seg.frames {
		if f := &seg.frames[i]; s.wants(f) {
			p = s.protocol.append(p, seg.epoch, f.Seq, f.Payload)
			frames++
		}
	}
	return p, frames
}

// forget drops the payloads, so that a segment kept for its memory does not retain them.
func (seg *segment) forget() {
	clear(seg.frames)
	seg.frames = seg.frames[:0]
}

// spareSegment returns a segment to fill, with the memory of an earlier segment if possible.
func (l *loop) spareSegment() *segment {
	if n := len(l.spare); n > 0 {
		seg := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return seg
	}
	return new(segment)
}

// reuse keeps a segment's memory for another segment, up to spareSegments. The caller ensures that
// no session still uses a part of the memory.
func (l *loop) reuse(seg *segment) {
	if len(l.spare) < cap(l.spare) {
		seg.forget()
		l.spare = append(l.spare, seg)
	}
}
