//go:build linux

package broadcast

import (
	"encoding/binary"
	"slices"

	"atelier/bench/latency"
	"atelier/bench/report"
)

// arrived reports whether everybody who reads has everything.
func (e *Engine) arrived(f *Finish) bool {
	for _, c := range e.clients {
		if c.publisher || c.asleep || c.sleeper && c.gap {
			continue
		}
		if !c.whole(f) {
			return false
		}
	}
	return true
}

// whole reports whether the subscriber has everything that was sent.
func (c *client) whole(f *Finish) bool {
	for p := range c.tracks {
		if !c.tracks[p].has(f.Sent[p], c.unexpected(f, p)) {
			return false
		}
	}
	return c.ready
}

// unexpected are the numbers of a publisher that are not missed when they have
// not come: what the server refused, and what it spoiled.
func (c *client) unexpected(f *Finish, p int) []int64 {
	if len(c.spoiled[p]) == 0 {
		return f.Refused[p]
	}
	all := slices.Concat(f.Refused[p], c.spoiled[p])
	slices.Sort(all)
	return slices.Compact(all)
}

// conclude counts what was found. Everything that will come has come.
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
		lost, adrift := int64(0), false
		for p := range c.tracks {
			lost += c.tracks[p].lost(f.Sent[p], c.unexpected(f, p))
			adrift = adrift || c.tracks[p].adrift && f.Sent[p] > c.tracks[p].next
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
			continue // it is missing itself
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

// note counts one who had stopped reading.
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
