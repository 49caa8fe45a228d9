package live

import "atelier/actors/room"

// SendPerson queues a payload for all sessions of a person in a room. It is used for signalling,
// and for answers that concern all of the person's windows. The order is that of Session.Send.
// SendPerson returns false if the payload would exceed Options.SignalBytes in at least one loop, or
// if the hub is closed. The sessions of such a loop do not receive the payload, and all other
// sessions receive it.
func (h *Hub) SendPerson(r *room.Room, person string, payload []byte) bool {
	return h.signal(r, len(payload), func(v *loopRoom) {
		for s := v.people[person]; s != nil; s = s.after {
			s.Send(payload)
		}
	})
}

// SendFacilitators queues a payload like SendPerson, but for every facilitator's session.
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

// EachSession calls fn for every session of a person in a room, including all whose Attach has
// returned. It does not wait for the calls. The function fn is called on the loops' goroutines and
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

// signal runs act in each loop that has a part of the room. Only the loops can access their
// sessions, so each loop gets a task.
func (h *Hub) signal(r *room.Room, size int, act func(*loopRoom)) bool {
	all := true
	for _, l := range h.loops {
		if !l.reserve(size) {
			l.count.signalsRefused.Add(1)
			all = false
			continue
		}
		posted := l.post(func() {
			l.reserve(-size)
			if v := l.rooms[r]; v != nil {
				act(v)
			}
		})
		all = all && posted // false if the hub is closed
	}
	return all
}

// reserve reserves bytes for a signal, or with a negative size releases them. It returns false if
// the loop's signals would exceed Options.SignalBytes.
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
