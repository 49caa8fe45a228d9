package limit

import (
	"fmt"
	"testing"
	"time"
)

func TestBucket(t *testing.T) {
	now := time.Unix(1000, 0)
	l := New(Rate{Burst: 3, Per: 30 * time.Second}, func() time.Time { return now })
	for i := range 3 {
		if w := l.Allow("a"); w != 0 {
			t.Fatalf("call %d must wait %v", i, w)
		}
	}
	if w := l.Allow("a"); w < 9*time.Second || w > 10*time.Second {
		t.Fatalf("an empty bucket says %v", w)
	}
	if l.Allow("b") != 0 {
		t.Fatal("another key is limited too")
	}
	now = now.Add(10 * time.Second)
	for range 2 { // looking takes nothing
		if w := l.Check("a"); w != 0 || l.Level("a") != 2 {
			t.Fatalf("one token is back; wait %v, level %d", w, l.Level("a"))
		}
	}
	if w := l.Allow("a"); w != 0 {
		t.Fatalf("the token that is back is refused for %v", w)
	}
	if l.Allow("a") == 0 {
		t.Fatal("a second token was given")
	}
}

func TestNoLimit(t *testing.T) {
	l := New(Rate{Burst: 0, Per: time.Second}, time.Now)
	for range 1000 {
		if l.Allow("a") != 0 {
			t.Fatal("0 must mean no limit")
		}
	}
}

func TestKeysAreBounded(t *testing.T) {
	now := time.Unix(0, 0)
	l := New(Rate{Burst: 2, Per: time.Hour}, func() time.Time { return now })
	for i := range 3 * shards * perShard {
		l.Allow(fmt.Sprint(i))
	}
	for i := range l.shards {
		if n := len(l.shards[i].buckets); n > perShard {
			t.Fatalf("a shard holds %d buckets", n)
		}
	}
}
