package pacing

import (
	"context"
	"sync"
	"time"
)

// Beside runs do on its own goroutine. stop cancels the context of do and waits until do
// returns. That context also ends when ctx ends.
func Beside(ctx context.Context, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { do(ctx) })
	return func() { cancel(); running.Wait() }
}

// Every calls do on its own goroutine once per interval, first after one interval. stop ends
// the calls and waits for one in progress. The calls also end when ctx ends.
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

// SleepUntil waits until a point in time. It returns false if ctx ends first.
func SleepUntil(ctx context.Context, at time.Time) bool { return Sleep(ctx, time.Until(at)) }

// Sleep waits for a duration. It returns false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
