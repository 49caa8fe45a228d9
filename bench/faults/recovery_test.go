package faults

import (
	"testing"
	"time"
)

func TestTheRecoveryTimeEndsWithTheLastSlowStep(t *testing.T) {
	const quick, slow = 10 * time.Millisecond, 300 * time.Millisecond
	// piece is a period. each is the number of messages per step, and took is their latency.
	type piece struct {
		from, to time.Duration
		took     time.Duration
		each     int
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for name, c := range map[string]struct {
		pieces []piece
		until  time.Duration
		want   time.Duration
		ok     bool
	}{
		"no effect":                          {[]piece{{0, ms(9000), quick, 5}}, ms(9000), 0, true},
		"an outage":                          {[]piece{{0, ms(2000), slow, 5}, {ms(2000), ms(9000), quick, 5}}, ms(9000), ms(2000), true},
		"a late begin":                       {[]piece{{0, ms(1000), quick, 5}, {ms(1000), ms(1500), slow, 5}, {ms(1500), ms(9000), quick, 5}}, ms(9000), ms(1500), true},
		"a second outage":                    {[]piece{{0, ms(500), slow, 5}, {ms(500), ms(4000), quick, 5}, {ms(4000), ms(4100), slow, 5}, {ms(4100), ms(9000), quick, 5}}, ms(9000), ms(4100), true},
		"one in a thousand is not an outage": {[]piece{{0, ms(9000), quick, 100}, {ms(3000), ms(3100), slow, 1}}, ms(9000), 0, true},
		"one in fifty is an outage":          {[]piece{{0, ms(9000), quick, 5}, {ms(3000), ms(3100), slow, 1}}, ms(9000), ms(3100), true},
		"just at the limit":                  {[]piece{{0, ms(1000), Limit, 5}, {ms(1000), ms(9000), Limit - 1, 5}}, ms(9000), ms(1000), true},
		"never":                              {[]piece{{0, ms(9000), slow, 5}}, ms(9000), ms(9000), false},
		"not recovered yet":                  {[]piece{{0, ms(8000), quick, 5}, {ms(8000), ms(9000), slow, 5}}, ms(9000), ms(9000), false},
		"no messages":                        {nil, ms(9000), ms(9000), false},
		"a slow time after the next fault does not count": {[]piece{{0, ms(4000), quick, 5}, {ms(4000), ms(9000), slow, 5}}, ms(4000), 0, true},
		"seconds without messages are ignored":            {[]piece{{0, ms(500), slow, 5}, {ms(7000), ms(7500), quick, 5}}, ms(9000), ms(500), true},
	} {
		var r Recovery
		for _, p := range c.pieces {
			for at := p.from; at < p.to; at += step {
				for range p.each {
					r.Add(at, p.took)
				}
			}
		}
		if got, ok := r.Time(c.until); got != c.want || ok != c.ok {
			t.Errorf("%s: the recovery took %v, recovered: %v; want %v, %v", name, got, ok, c.want, c.ok)
		}
	}
}

// Messages hours after a fault are ignored, so memory does not grow.
func TestMessagesLongAfterAFaultAreIgnored(t *testing.T) {
	var r Recovery
	for _, at := range []time.Duration{-time.Second, watched, 24 * time.Hour} {
		r.Add(at, time.Second)
	}
	if !r.Empty() {
		t.Errorf("%d steps are stored, want none", len(r.buckets))
	}
}
