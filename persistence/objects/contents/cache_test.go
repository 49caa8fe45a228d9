package contents

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/files"
)

// newCache returns a cache of limit bytes. For each dropped copy, the first byte of its sum is
// appended to dropped.
func newCache(limit int64) (c *cache, dropped *[]byte) {
	dropped = new([]byte)
	return &cache{limit: limit, copies: map[files.Sum]copied{}, drop: func(sum files.Sum) { *dropped = append(*dropped, sum[0]) }}, dropped
}

// A copy is dropped an hour after it was created, no matter how often it was used. Otherwise a
// popular file that was erased in the store would stay on the node.
func TestACopyIsDroppedAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dropped := newCache(100)
		gone := func(want ...byte) {
			t.Helper()
			if c.expire(); !slices.Equal(*dropped, want) {
				t.Errorf("the dropped copies are %v, want %v", *dropped, want)
			}
		}
		for range 4 {
			c.add(files.Sum{1}, 10)
			time.Sleep(keepFor / 4)
			gone()
		}
		c.add(files.Sum{1}, 10)
		c.add(files.Sum{2}, 10)
		time.Sleep(time.Second)
		gone(1)
		if c.bytes != 10 {
			t.Errorf("the cache counts %d bytes, want 10", c.bytes)
		}
		// A new copy stays for the full time again.
		c.add(files.Sum{1}, 10)
		time.Sleep(keepFor - time.Second)
		gone(1)
		time.Sleep(time.Second)
		gone(1, 2)
		time.Sleep(time.Second)
		gone(1, 2, 1)
	})
}

// When the cache is full, the least recently used copies are dropped. The copy in use stays, no
// matter how large it is.
func TestTheLeastRecentlyUsedCopiesAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dropped := newCache(30)
		add := func(sum byte, size int64, want ...byte) {
			t.Helper()
			time.Sleep(time.Second)
			c.add(files.Sum{sum}, size)
			if got := slices.Clone(*dropped); !slices.Equal(got, want) {
				t.Errorf("after adding copy %d, the dropped copies are %v, want %v", sum, got, want)
			}
			*dropped = nil
			var bytes int64
			for _, o := range c.copies {
				bytes += o.size
			}
			if c.bytes != bytes {
				t.Errorf("after adding copy %d, the cache counts %d bytes, want %d", sum, c.bytes, bytes)
			}
		}
		add(1, 10)
		add(2, 10)
		add(3, 10)
		add(1, 10)
		add(4, 10, 2)
		add(5, 20, 3, 1)
		add(6, 1000, 4, 5)
		add(7, 1, 6)
		c.remove(files.Sum{7})
		*dropped = nil
		add(8, 30)
		c.clear()
		*dropped = nil
		add(9, 30)
	})
}
