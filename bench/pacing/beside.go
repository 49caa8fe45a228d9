package pacing

import (
	"context"
	"sync"
	"time"
)

// Beside runs do on a goroutine of its own, with a context that ends with ctx or
// when the function it returns is called, which waits for do.
func Beside(ctx context.Context, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { do(ctx) })
	return func() { cancel(); running.Wait() }
}

// Every runs do beside the caller once in an interval, from the end of the first
// on, as Beside runs it once.
func Every(ctx context.Context, interval time.Duration, do func()) (stop func()) {
	return Beside(ctx, func(ctx context.Context) {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				do()
			}
		}
	})
}

// SleepUntil waits for a moment, and reports false when ctx ended before.
func SleepUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
