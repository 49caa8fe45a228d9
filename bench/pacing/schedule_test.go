package pacing

import (
	"testing"
	"time"
)

func TestTheScheduleDoesNotWaitForCallers(t *testing.T) {
	s := &Schedule{Rate: 100, Start: time.Second, Until: 2 * time.Second}
	for i := range int64(100) {
		pair, due, ok := s.Take(time.Hour) // however late
		if pair != i || due != time.Second+time.Duration(i)*10*time.Millisecond || !ok {
			t.Fatalf("Take %d returned %d, %v, %v", i, pair, due, ok)
		}
	}
	if _, _, ok := s.Take(0); ok {
		t.Error("the schedule does not end")
	}
	s = &Schedule{Until: time.Second}
	if _, due, ok := s.Take(7); due != 7 || !ok {
		t.Error("without a rate, an operation is not due immediately")
	}
}
