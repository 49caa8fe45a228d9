package live

import "atelier/actors/room"

// SendPerson queues a payload to every session that a person has in a room:
// signalling, and answers that concern all of the person's windows. It keeps
// the promise of Session.Send, and reports false when a loop has more than
// Options.SignalBytes of such payloads to distribute; then some sessions may
// have been left out.
func (h *Hub) SendPerson(r *room.Room, person string, payload []byte) bool {
	return h.signal(r, len(payload), func(v *loopRoom) {
		for s := v.people[person]; s != nil; s = s.after {
			s.Send(payload)
		}
	})
}

// SendFacilitators is SendPerson for every facilitator's session.
func (h *Hub) SendFacilitators(r *room.Room, payload []byte) bool {
	return h.signal(r, len(payload), func(v *loopRoom) {
		for g := range v.groups {
			if !groupIsFacilitators(g) {
				continue
			}
			for _, s := range v.groups[g].members {
				s.Send(payload)
			}
		}
	})
}

// EachSession calls fn for every session that a person has in a room, those
// included whose Attach has returned. It is called on the loops' goroutines and
// must not block.
func (h *Hub) EachSession(r *room.Room, person string, fn func(*Session)) {
	h.signal(r, 0, func(v *loopRoom) {
		for s := v.people[person]; s != nil; s = s.after {
			fn(s)
		}
	})
}

// CloseRoom closes every session in a room.
func (h *Hub) CloseRoom(r *room.Room, code int, reason string) {
	h.signal(r, 0, func(v *loopRoom) {
		for g := range v.groups {
			for _, s := range v.groups[g].members {
				s.Close(code, reason)
			}
		}
	})
}

// signal runs act on a room in each loop that has one. Only the
// loops know who is there, so every one of them is asked.
func (h *Hub) signal(r *room.Room, size int, act func(*loopRoom)) bool {
	all := true
	for _, l := range h.loops {
		if !l.reserve(size) {
			l.count.signalsRefused.Add(1)
			all = false
			continue
		}
		l.post(func() {
			l.reserve(-size)
			if v := l.rooms[r]; v != nil {
				act(v)
			}
		})
	}
	return all
}

// reserve takes room for the bytes of a signal, or with a negative size gives
// it back.
func (l *loop) reserve(size int) bool {
	in := &l.inbox
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.signalBytes+size > l.hub.opts.SignalBytes {
		return false
	}
	in.signalBytes += size
	return true
}
