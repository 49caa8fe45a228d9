package trees

import (
	"fmt"
	"hash/maphash"
	"sync"
	"testing"
)

// inOrder returns two keys that have different locks, in lock order.
func inOrder(s *Store) (first, second string) {
	for i := 0; ; i++ {
		first, second = fmt.Sprint("first", i), fmt.Sprint("second", i)
		if s.shard(first) < s.shard(second) {
			return first, second
		}
	}
}

// Several keys share a lock. A caller with two keys of one lock must not wait for itself, and two
// callers must take two locks in the same order. Otherwise this test never ends.
func TestLocksDoNotDeadlock(t *testing.T) {
	s := &Store{seed: maphash.MakeSeed()}
	for i := range 10 * lockShards {
		s.LockReading("run", fmt.Sprint("source", i))()
	}
	first, second := inOrder(s)
	var both sync.WaitGroup
	for _, keys := range [][2]string{{first, second}, {second, first}} {
		both.Go(func() {
			for range 1000 {
				s.LockReading(keys[0], keys[1])()
			}
		})
	}
	both.Wait()
}

// LockReading locks the first key exclusively, and shares the second with other readers.
func TestLockReadingLocksBothKeys(t *testing.T) {
	s := &Store{seed: maphash.MakeSeed()}
	first, second := inOrder(s)
	for _, keys := range [][2]string{{first, second}, {second, first}} {
		mine, read := &s.locks[s.shard(keys[0])], &s.locks[s.shard(keys[1])]
		unlock := s.LockReading(keys[0], keys[1])
		if mine.TryRLock() {
			t.Error("the key being written can be read by others")
		}
		if read.TryLock() {
			t.Error("the key being read can be written by others")
		}
		if !read.TryRLock() {
			t.Fatal("a second reader has to wait")
		}
		read.RUnlock()
		unlock()
		if !mine.TryLock() || !read.TryLock() {
			t.Fatal("a lock is still held")
		}
		mine.Unlock()
		read.Unlock()
	}
}
