package faults

import "time"

// Window is the time over which a percentile is taken. The service counts as recovered while its
// p99 is below Limit.
const (
	Window = time.Second
	Limit  = 250 * time.Millisecond
)

// step is the distance between windows, and so the resolution of a recovery.
const step = 100 * time.Millisecond

// watched is the maximum time after a fault that is analysed: 10 minutes.
const watched = 10 * time.Minute

// Recovery counts the deliveries after a fault. Each belongs to the time for which it was planned,
// so a message that waits through an outage counts towards the outage, whenever it arrives. The
// zero value is ready to use. It is not safe for concurrent use.
type Recovery struct {
	buckets []bucket
}

// bucket is one step: all deliveries, and those that took Limit or longer.
type bucket struct{ count, slow int }

// Add records a delivery of a message, by its planned time after the fault.
func (r *Recovery) Add(since, took time.Duration) {
	n := int(since / step)
	if since < 0 || n >= int(watched/step) {
		return
	}
	for len(r.buckets) <= n {
		r.buckets = append(r.buckets, bucket{})
	}
	r.buckets[n].count++
	if took >= Limit {
		r.buckets[n].slow++
	}
}

// Empty reports whether nothing was added.
func (r *Recovery) Empty() bool { return len(r.buckets) == 0 }

// Time returns the time from the fault to the recovery, using the deliveries up to until. The
// recovery is one step after the beginning of the last window whose p99 is not under Limit. The
// time is 0 if there is no such window. If the last window with deliveries was still slow, or if
// there were no deliveries, Time returns until and false.
func (r *Recovery) Time(until time.Duration) (time.Duration, bool) {
	known := min(len(r.buckets), int(until/step))
	last, lastGood := -1, -1 // where windows begin
	for begin := range known {
		var w bucket
		for _, b := range r.buckets[begin:min(begin+int(Window/step), known)] {
			w.count += b.count
			w.slow += b.slow
		}
		switch {
		case w.count == 0:
		case w.slow*100 > w.count:
			last = begin
		default:
			lastGood = begin
		}
	}
	if lastGood < 0 || last > lastGood {
		return until, false
	}
	return time.Duration(last+1) * step, true
}
