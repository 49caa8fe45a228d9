package httpapi

import (
	"hash/maphash"
	"maps"
	"math"
	"sync"
	"time"
)

const (
	shards = 32
	// perShard bounds the buckets of a shard. Before a shard exceeds this bound, evict removes
	// buckets.
	perShard = 8192
)

// Rate is a bucket's refill rate and size. A zero Burst or Per means no limit.
type Rate struct {
	Burst int
	// Per is the time in which an empty bucket becomes full.
	Per time.Duration
	// Among returns the number of servers that share the limit. nil means one server.
	Among func() int
}

// Limiter keeps one bucket per key. It is safe for concurrent use.
type Limiter struct {
	burst  float64
	perSec float64
	now    func() time.Time
	among  func() int
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// NewLimiter returns a limiter, or nil if the rate is unlimited. A nil limiter allows everything.
func NewLimiter(r Rate, now func() time.Time) *Limiter {
	if r.Burst <= 0 || r.Per <= 0 {
		return nil
	}
	return NewRateLimiter(float64(r.Burst)/r.Per.Seconds(), r.Burst, now).Among(r.Among)
}

// Among divides the limit among several servers. It must be called before the first use, and
// returns the limiter.
func (l *Limiter) Among(servers func() int) *Limiter {
	if l != nil {
		l.among = servers
	}
	return l
}

// cost returns the tokens per request: for a shared limit, the number of servers, but at most the
// burst.
func (l *Limiter) cost() float64 {
	if l.among == nil {
		return 1
	}
	return max(1, min(float64(l.among()), l.burst))
}

// NewRateLimiter returns a limiter for a rate per second with a separate burst, or nil if one of
// them is not positive.
func NewRateLimiter(perSec float64, burst int, now func() time.Time) *Limiter {
	if perSec <= 0 || burst <= 0 {
		return nil
	}
	return &Limiter{burst: float64(burst), perSec: perSec, now: now, seed: maphash.MakeSeed()}
}

// Allow takes the tokens for one request, see cost. If there are too few, it takes none and returns
// the time until there are enough, which is more than 0.
func (l *Limiter) Allow(key string) (wait time.Duration) { return l.take(key, 1) }

// Return refunds the tokens that Allow took.
func (l *Limiter) Return(key string) { l.take(key, -1) }

// Check returns the result of Allow, but takes no tokens.
func (l *Limiter) Check(key string) (wait time.Duration) { return l.take(key, 0) }

// Charge is a bucket from which a request takes tokens.
type Charge struct {
	Limiter *Limiter
	Key     string
}

// Waits returns the time until each bucket has the tokens for one request.
func Waits(charges ...Charge) (wait time.Duration) {
	for _, c := range charges {
		wait = max(wait, c.Limiter.Check(c.Key))
	}
	return wait
}

// AllowAll takes the tokens for one request from each bucket. If one has too few, AllowAll takes
// none and returns the time until all have enough, which is more than 0.
func AllowAll(charges ...Charge) (wait time.Duration) {
	if wait = Waits(charges...); wait > 0 {
		return wait
	}
	for i, c := range charges {
		if wait = c.Limiter.Allow(c.Key); wait > 0 { // a concurrent request was faster
			for _, taken := range charges[:i] {
				taken.Limiter.Return(taken.Key)
			}
			return max(wait, Waits(charges...))
		}
	}
	return 0
}

// Level returns the number of requests of a key that count against the limit now.
func (l *Limiter) Level(key string) int {
	if l == nil {
		return 0
	}
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[key]
	if b == nil {
		return 0
	}
	return int(math.Ceil((l.burst - l.refilled(b, l.now())) / l.cost()))
}

func (l *Limiter) shard(key string) *shard {
	return &l.shards[maphash.String(l.seed, key)%shards]
}

func (l *Limiter) refilled(b *bucket, now time.Time) float64 {
	return min(l.burst, b.tokens+max(0, now.Sub(b.at).Seconds())*l.perSec)
}

func (l *Limiter) take(key string, n float64) time.Duration {
	if l == nil {
		return 0
	}
	now := l.now()
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[key]
	if b == nil {
		if n <= 0 {
			return 0
		}
		if len(s.buckets) >= perShard {
			l.evict(s, now)
		}
		if s.buckets == nil {
			s.buckets = map[string]*bucket{}
		}
		b = &bucket{tokens: l.burst, at: now}
		s.buckets[key] = b
	}
	b.tokens, b.at = l.refilled(b, now), now
	cost := l.cost()
	if n >= 0 && b.tokens < cost {
		return max(time.Millisecond, time.Duration((cost-b.tokens)/l.perSec*float64(time.Second)))
	}
	b.tokens -= n * cost // refunds above the burst have no effect, see refilled
	return 0
}

// Forget removes full buckets, because they contain no information.
func (l *Limiter) Forget() {
	if l == nil {
		return
	}
	now := l.now()
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		if l.dropFull(s, now); len(s.buckets) == 0 {
			s.buckets = nil // a map never shrinks
		}
		s.mu.Unlock()
	}
}

// dropFull removes the full buckets of a shard, which must be locked.
func (l *Limiter) dropFull(s *shard, now time.Time) {
	maps.DeleteFunc(s.buckets, func(_ string, b *bucket) bool { return l.refilled(b, now) >= l.burst })
}

// evict removes all full buckets, and then any other buckets until a quarter of the shard is free.
// With a flood of keys, the map therefore does not grow, and is not scanned for each key.
func (l *Limiter) evict(s *shard, now time.Time) {
	l.dropFull(s, now)
	for k := range s.buckets {
		if len(s.buckets) < perShard*3/4 {
			return
		}
		delete(s.buckets, k)
	}
}
