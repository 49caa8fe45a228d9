package held

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitingCallersGetTheLockInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Lock
		var order []int
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				l.Lock()
				defer l.Unlock()
				if l.TryLock() {
					t.Error("two callers hold the lock")
				}
				time.Sleep(time.Second) // the bubble's time advances while the other goroutines wait
				order = append(order, i)
			})
			synctest.Wait()
		}
		all.Wait()
		if len(order) != 10 || !slices.IsSorted(order) {
			t.Errorf("the order of the holders is %v", order)
		}
		if !l.TryLock() {
			t.Error("a free lock cannot be taken")
		}
		l.Unlock()
		defer func() {
			if recover() == nil {
				t.Error("Unlock of a free lock did not panic")
			}
		}()
		l.Unlock()
	})
}

func BenchmarkLock(b *testing.B) {
	b.Run("held", func(b *testing.B) {
		var l Lock
		n := 0
		for b.Loop() {
			l.Lock()
			n++
			l.Unlock()
		}
	})
	b.Run("mutex", func(b *testing.B) {
		var l sync.Mutex
		n := 0
		for b.Loop() {
			l.Lock()
			n++
			l.Unlock()
		}
	})
}
