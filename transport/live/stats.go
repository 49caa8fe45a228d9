package live

import "sync/atomic"

// Stats contains the counters of a hub. All counters except Sessions and Slow only grow.
type Stats struct {
	// Sessions is the number of connected sessions. Slow is the number of sessions that lag.
	Sessions, Slow int64
	// Attached is the number of sessions attached since the hub was created.
	Attached uint64
	// Frames is the number of frames that the loops took from rooms, counted once per loop.
	Frames uint64
	// Deliveries is the number of frames written to sessions.
	Deliveries uint64
	// Private is the number of private payloads written to sessions.
	Private uint64
	// Bytes, Writes and ShortWrites count writes to sockets. A short write is a write that the
	// socket did not accept completely.
	Bytes, Writes, ShortWrites uint64
	// Messages is the number of received messages. Limited is the number of messages above the rate
	// limit.
	Messages, Limited uint64
	// MissedTransients counts transients that left the ring before a session could receive them.
	MissedTransients uint64
	// Overflows counts full private queues. SignalsRefused counts the signals that a loop refused
	// because its queue was full.
	Overflows, SignalsRefused uint64
	// Wakeups is the number of times that a goroutine woke a parked loop.
	Wakeups uint64
	// Replays is the number of returning clients that were sent the frames after their position.
	Replays uint64
	// Resyncs counts resyncs, and Closes counts ended sessions, by reason.
	Resyncs [resyncs]uint64
	Closes  [reasons]uint64
}

// counters contains the counters of one loop. A loop adds only to its own counters, and other
// goroutines add rarely, so additions are hardly contended. Any goroutine can read the counters.
type counters struct {
	sessions, slow                      atomic.Int64
	attached, frames, deliveries        atomic.Uint64
	private, bytes, writes, shortWrites atomic.Uint64
	messages, limited, missedTransients atomic.Uint64
	overflows, signalsRefused           atomic.Uint64
	wakeups, replays                    atomic.Uint64
	resyncs                             [resyncs]atomic.Uint64
	closes                              [reasons]atomic.Uint64
}

func (c *counters) addTo(s *Stats) {
	s.Sessions += c.sessions.Load()
	s.Slow += c.slow.Load()
	s.Attached += c.attached.Load()
	s.Frames += c.frames.Load()
	s.Deliveries += c.deliveries.Load()
	s.Private += c.private.Load()
	s.Bytes += c.bytes.Load()
	s.Writes += c.writes.Load()
	s.ShortWrites += c.shortWrites.Load()
	s.Messages += c.messages.Load()
	s.Limited += c.limited.Load()
	s.MissedTransients += c.missedTransients.Load()
	s.Overflows += c.overflows.Load()
	s.SignalsRefused += c.signalsRefused.Load()
	s.Wakeups += c.wakeups.Load()
	s.Replays += c.replays.Load()
	for i := range c.resyncs {
		s.Resyncs[i] += c.resyncs[i].Load()
	}
	for i := range c.closes {
		s.Closes[i] += c.closes[i].Load()
	}
}

// Stats returns the sums of the loops' counters.
func (h *Hub) Stats() Stats {
	var s Stats
	for _, l := range h.loops {
		l.count.addTo(&s)
	}
	return s
}
