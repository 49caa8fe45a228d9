package durable

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
)

// A wait that begins when the host has closed ends at once. It never ended: who
// would have answered was gone, and so was what ends waits that take too long.
func TestAWaitBehindTheCloseEnds(t *testing.T) {
	clocktest.Bubble(t, func(t *testing.T) {
		s := newPendingReplies(clock.System, time.Second)
		before := s.get()
		go s.close()
		if r := s.await(before); !errors.Is(r.Err, ErrUnavailable) {
			t.Errorf("a wait that the close met: %v", r.Err)
		}
		synctest.Wait()
		for range 2 {
			if r := s.await(s.get()); !errors.Is(r.Err, ErrUnavailable) {
				t.Errorf("a wait behind the close: %v", r.Err)
			}
		}
	})
}
