package s3

import (
	"testing"
	"time"
)

// The timeout of a transfer grows with its size, by one second per MiB.
func TestALargeTransferHasALongerTimeout(t *testing.T) {
	s := &Store{opts: Options{Timeout: 30 * time.Second}}
	for size, want := range map[int64]time.Duration{0: 30 * time.Second, 1<<20 - 1: 30 * time.Second, 2 << 20: 32 * time.Second, 5 << 30: 5150 * time.Second} {
		ctx, cancel := s.during(t.Context(), size)
		if until, ok := ctx.Deadline(); s.limit(size) != want || !ok || time.Until(until) > want {
			t.Errorf("%d bytes have the limit %v, until %v", size, s.limit(size), until)
		}
		cancel()
	}
}
