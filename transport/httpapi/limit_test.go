package httpapi

import (
	"fmt"
	"testing"
	"time"
)

func TestBucket(t *testing.T) {
	now := time.Unix(1000, 0)
	l := NewLimiter(Rate{Burst: 3, Per: 30 * time.Second}, func() time.Time { return now })
	for i := range 3 {
		if w := l.Allow("a"); w != 0 {
			t.Fatalf("call %d must wait %v", i, w)
		}
	}
	if w := l.Allow("a"); w < 9*time.Second || w > 10*time.Second {
		t.Fatalf("with an empty bucket Allow returned %v, want about 10s", w)
	}
	if l.Allow("b") != 0 {
		t.Fatal("another key is also limited")
	}
	now = now.Add(10 * time.Second)
	for range 2 { // Check takes no token
		if w := l.Check("a"); w != 0 || l.Level("a") != 2 {
			t.Fatalf("after a token came back, Check returned %v, want 0, and Level %d, want 2", w, l.Level("a"))
		}
	}
	if w := l.Allow("a"); w != 0 {
		t.Fatalf("the token that came back is refused for %v", w)
	}
	if l.Allow("a") == 0 {
		t.Fatal("a second token was granted")
	}
}

func TestNoLimit(t *testing.T) {
	l := NewLimiter(Rate{Burst: 0, Per: time.Second}, time.Now)
	for range 1000 {
		if l.Allow("a") != 0 {
			t.Fatal("a burst of 0 limits calls")
		}
	}
}

func TestKeysAreBounded(t *testing.T) {
	now := time.Unix(0, 0)
	l := NewLimiter(Rate{Burst: 2, Per: time.Hour}, func() time.Time { return now })
	for i := range 3 * shards * perShard {
		l.Allow(fmt.Sprint(i))
	}
	for i := range l.shards {
		if n := len(l.shards[i].buckets); n > perShard {
			t.Fatalf("a shard has %d buckets, want at most perShard", n)
		}
	}
}

func TestAddressesOfANetworkShareALimit(t *testing.T) {
	for ip, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "::ffff:c000:201": "192.0.2.1",
		"2001:db8:1:2::7": "2001:db8:1:2::/64", "2001:db8:1:2:ffff::": "2001:db8:1:2::/64", "2001:DB8:1:2::7%eth0": "2001:db8:1:2::/64",
		"2001:db8:1:3::7": "2001:db8:1:3::/64", "::1": "::/64", "rubbish": "rubbish", "": "",
	} {
		if got := Address(ip); got != want {
			t.Errorf("%q is limited as %q, want %q", ip, got, want)
		}
	}
}

// If buckets were charged separately, a refusal by one bucket would use up tokens of the other.
func TestSeveralBucketsAreChargedTogetherOrNotAtAll(t *testing.T) {
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	small, large := NewLimiter(Rate{Burst: 1, Per: 10 * time.Second}, clock), NewLimiter(Rate{Burst: 2, Per: 2 * time.Second}, clock)
	both := func() time.Duration { return AllowAll(Charge{large, "a"}, Charge{small, "b"}, Charge{nil, "c"}) }
	if w := both(); w != 0 {
		t.Fatalf("the first call must wait %v", w)
	}
	for range 3 {
		if w := both(); w < 9*time.Second {
			t.Fatalf("with an empty bucket AllowAll returned %v, want about 10s", w)
		}
	}
	if n := large.Level("a"); n != 1 {
		t.Errorf("the large bucket has %d tokens used, want 1", n)
	}
}

// Two registrations can pass the check together although a bucket has only one token.
func TestARefusalBecauseOfAConcurrentRequestTakesNoTokens(t *testing.T) {
	now := time.Unix(1000, 0)
	var small *Limiter
	readings := 0
	large := NewLimiter(Rate{Burst: 2, Per: 2 * time.Second}, func() time.Time {
		if readings++; readings == 2 { // after the check, before the tokens are taken
			small.Allow("b")
		}
		return now
	})
	small = NewLimiter(Rate{Burst: 1, Per: 10 * time.Second}, func() time.Time { return now })
	if w := AllowAll(Charge{large, "a"}, Charge{small, "b"}); w < 9*time.Second {
		t.Fatalf("with a bucket that was emptied meanwhile, AllowAll returned %v, want about 10s", w)
	}
	if n := large.Level("a"); n != 0 {
		t.Errorf("the large bucket has %d tokens used, want none", n)
	}
}

// If there is no room, the full buckets are removed first.
func TestFullBucketsAreEvictedFirst(t *testing.T) {
	now := time.Unix(0, 0)
	l := NewLimiter(Rate{Burst: 1, Per: time.Minute}, func() time.Time { return now })
	s := &shard{buckets: map[string]*bucket{}}
	for i := range perShard {
		b := &bucket{tokens: 1, at: now}
		if i < perShard/2 {
			b.tokens = 0
		}
		s.buckets[fmt.Sprint(i)] = b
	}
	if l.evict(s, now); len(s.buckets) != perShard/2 {
		t.Errorf("%d buckets remain, want half of perShard", len(s.buckets))
	}
	for key, b := range s.buckets {
		if b.tokens > 0 {
			t.Fatalf("the full bucket %s remains", key)
		}
	}
}

// Removing a full bucket does not affect its key. A caller with an empty bucket is still refused.
func TestOnlyFullBucketsAreForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	l := NewLimiter(Rate{Burst: 2, Per: time.Minute}, func() time.Time { return now })
	for i := range 1000 {
		l.Allow(fmt.Sprint(i))
	}
	now = now.Add(40 * time.Second)
	for range 2 {
		l.Allow("busy")
	}
	l.Allow("once") // takes one of two tokens
	l.Forget()
	left := 0
	for i := range l.shards {
		if l.shards[i].buckets != nil {
			left += len(l.shards[i].buckets)
		}
	}
	if wait := l.Allow("busy"); left != 2 || wait != 30*time.Second || l.Level("once") != 1 {
		t.Errorf("%d buckets remain, an empty one must wait %v, another has %d tokens used; want 2, 30s, 1", left, wait, l.Level("once"))
	}
	now = now.Add(time.Hour)
	l.Forget()
	for i := range l.shards {
		if l.shards[i].buckets != nil {
			t.Fatal("an empty map is kept")
		}
	}
	(*Limiter)(nil).Forget()
}

// Only taken tokens are returned, and no bucket exceeds its size.
func TestTokensCanBeReturned(t *testing.T) {
	l := NewLimiter(Rate{Burst: 2, Per: time.Hour}, func() time.Time { return time.Unix(1000, 0) })
	l.Return("a")
	l.Allow("a")
	l.Allow("a")
	if l.Allow("a") == 0 {
		t.Fatal("a third token was granted")
	}
	for range 3 {
		l.Return("a")
	}
	if n := l.Level("a"); n != 0 {
		t.Errorf("after all returns %d tokens are used, want 0", n)
	}
	for i := range 3 {
		if w := l.Allow("a"); (w == 0) != (i < 2) {
			t.Errorf("call %d must wait %v", i, w)
		}
	}
}
