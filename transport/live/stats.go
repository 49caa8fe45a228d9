package live

import "sync/atomic"

// Stats is a reading of a hub's counters. All but Sessions and Slow only grow.
type Stats struct {
	// Sessions is how many are connected, and Slow how many of them are behind.
	Sessions, Slow int64
	// Attached is how many sessions there have ever been.
	Attached uint64
	// Frames is how many frames the loops took from rooms, once per loop.
	Frames uint64
	// Deliveries is how many frames were written to sessions.
	Deliveries uint64
	// Private is how many private payloads were written to sessions.
	Private uint64
	// Bytes, Writes and ShortWrites are of the sockets; a short write is one that did not take
	// everything.
	Bytes, Writes, ShortWrites uint64
	// Messages is how many messages came in, and Limited how many of them were
	// over the rate.
	Messages, Limited uint64
	// MissedTransients counts transients that had left the ring before a
	// session could take them.
	MissedTransients uint64
	// Overflows counts private queues that were full, and SignalsRefused the
	// signals for which a loop had no room.
	Overflows, SignalsRefused uint64
	// Wakeups is how often a parked loop was woken by another goroutine.
	Wakeups uint64
	// Replays is how many sessions were caught up from a position they named.
	Replays uint64
	// Resyncs and Closes count by reason.
	Resyncs [resyncs]uint64
	Closes  [reasons]uint64
}

// counters are the counts of one loop. Each loop writes its own, so the additions
// are uncontended; anyone reads.
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

// Stats adds up what the loops have counted so far.
func (h *Hub) Stats() Stats {
	var s Stats
	for _, l := range h.loops {
		l.count.addTo(&s)
	}
	return s
}
