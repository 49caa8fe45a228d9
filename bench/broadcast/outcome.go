//go:build linux

package broadcast

import (
	"encoding/binary"
	"slices"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
)

// arrived reports whether all subscribers have received everything. It ignores subscribers that do
// not read now, and sleepers to which the server has reported a gap.
func (e *Engine) arrived(f *Finish) bool {
	for _, c := range e.clients {
		if c.publisher || c.asleep || c.sleeper && c.gap {
			continue
		}
		if !c.whole(f, e.tooLate(c)) {
			return false
		}
	}
	return true
}

// whole reports whether the subscriber has received everything that was sent, or as much as it can
// after reconnecting too late for the last message. It returns false if the subscriber is not ready.
func (c *client) whole(f *Finish, late bool) bool {
	for p := range c.tracks {
		t := &c.tracks[p]
		if !(late && t.adrift) && !t.has(f.Sent[p], c.unexpected(f, p)) {
			return false
		}
	}
	return c.ready
}

// lastMoment is how long before the end of the sending a subscriber must be back to expect the last
// message. A client is ready a little before the server has registered it.
const lastMoment = time.Second

// tooLate reports whether a subscriber reconnected at or near the end of the sending, to a server
// that does not replay missed messages.
func (e *Engine) tooLate(c *client) bool {
	return c.ready && c.back > 0 && e.job.Dialect.Resume == "" && e.load != nil && c.back > e.load.Until-lastMoment
}

// unexpected returns the numbers of a publisher's messages whose absence does not count, because
// the server refused or spoiled them.
func (c *client) unexpected(f *Finish, p int) []int64 {
	if len(c.spoiled[p]) == 0 {
		return f.Refused[p]
	}
	all := slices.Concat(f.Refused[p], c.spoiled[p])
	slices.Sort(all)
	return slices.Compact(all)
}

// conclude counts the results. No more messages will arrive.
func (e *Engine) conclude(f *Finish) {
	e.closing = true
	o := &e.out
	o.Open = e.ready
	o.Rest = e.sample()
	for _, c := range e.clients {
		if c.publisher {
			continue
		}
		switch {
		case c.kept:
			o.Unopened++
		case c.was && !c.ready:
			o.Gone++
		}
		lost, adrift, late := int64(0), false, e.tooLate(c)
		for p := range c.tracks {
			lost += c.tracks[p].lost(f.Sent[p], c.unexpected(f, p))
			missed := f.Sent[p] - c.tracks[p].next
			switch {
			case !c.tracks[p].adrift || missed <= 0:
			case late:
				o.Away += missed
			default:
				adrift = true
			}
		}
		for p, numbers := range c.spoiled {
			for _, n := range numbers {
				if n < f.Sent[p] {
					o.Forged++
				} else {
					o.Foreign++
				}
			}
		}
		if c.sleeper {
			note(&o.Stalled, c, lost, adrift)
			if !c.gap && c.ready {
				o.Lost += lost
			}
			continue
		}
		if !c.was {
			continue // the client itself counts as missing
		}
		o.Lost += lost
		if adrift || !c.ready {
			o.Unfinished++
		}
	}
	if o.Turns == nil {
		o.Turns = latency.New()
	}
	for _, flights := range e.flights {
		b := make([]byte, 0, 4*len(flights))
		for _, f := range flights {
			b = binary.LittleEndian.AppendUint32(b, f.last)
		}
		o.Last = append(o.Last, b)
	}
}

// note counts the outcome of a client that had stopped reading.
func note(s *report.Stalled, c *client, lost int64, adrift bool) {
	s.People++
	if c.closedAsleep {
		s.Closed++
	}
	switch {
	case c.gap:
		s.Resynced++
	case !c.ready || adrift:
		s.Unfinished++
	case lost > 0:
		s.Gaps++
	default:
		s.CaughtUp++
	}
}
