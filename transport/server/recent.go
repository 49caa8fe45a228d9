package server

import (
	"math"
	"sync"
	"time"
)

// RecentSpan is the time span of Recent. Up to one slot more, a twelfth, can be included.
const RecentSpan = 2 * time.Minute

const (
	recentSlot  = RecentSpan / recentSlots
	recentSlots = 12
	// A bucket ends a tenth above the previous bucket, so a quantile can be a tenth too high. The
	// last bucket ends at 75 seconds and includes longer durations.
	recentFirst   = 100 * time.Microsecond
	recentBuckets = 143
)

var recentGrowth = math.Log(1.1)

// recentDurations keeps the durations of the last minutes. Prometheus histograms cover the whole
// time since the start, and no shorter time. recentDurations is safe for concurrent use. Set now
// before the first use.
type recentDurations struct {
	now func() time.Time

	mu    sync.Mutex
	slots [recentSlots + 1]recentTimes // guarded by mu; by the number of the slot
}

// recentTimes contains the durations of one slot.
type recentTimes struct {
	number int64 // the slot's number since 1970
	counts [recentBuckets]uint32
}

// Recent summarizes the durations of an operation in the last minutes.
type Recent struct {
	// N is the number of durations. If it is 0, the quantiles are 0.
	N uint64
	// P50 and P99 are quantiles, at most a tenth too high. They are at least 0.1 ms and at most 75
	// seconds.
	P50, P99 time.Duration
}

func (l *recentDurations) slot() int64 { return l.now().UnixNano() / int64(recentSlot) }

func (l *recentDurations) observe(took time.Duration) {
	bucket := 0
	if took > recentFirst {
		bucket = min(int(math.Ceil(math.Log(float64(took)/float64(recentFirst))/recentGrowth)), recentBuckets-1)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	number := l.slot()
	s := &l.slots[number%int64(len(l.slots))]
	if s.number != number {
		*s = recentTimes{number: number}
	}
	s.counts[bucket]++
}

func (l *recentDurations) recent() (r Recent) {
	var sum [recentBuckets]uint64
	l.mu.Lock()
	oldest := l.slot() - recentSlots
	for i := range l.slots {
		if s := &l.slots[i]; s.number >= oldest {
			for bucket, n := range s.counts {
				sum[bucket] += uint64(n)
				r.N += uint64(n)
			}
		}
	}
	l.mu.Unlock()
	r.P50, r.P99 = quantile(sum, r.N, 50), quantile(sum, r.N, 99)
	return r
}

// quantile returns a duration that the given percentage of the n durations does not exceed: the end
// of their last bucket.
func quantile(sum [recentBuckets]uint64, n, percent uint64) time.Duration {
	if n == 0 {
		return 0
	}
	below := uint64(0)
	for bucket, here := range sum {
		if below += here; below*100 >= n*percent {
			return time.Duration(float64(recentFirst) * math.Exp(float64(bucket)*recentGrowth))
		}
	}
	return 0 // never reached, because the last bucket includes all durations
}
