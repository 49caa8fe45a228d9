package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock"
	"atelier/actors/clock/clocktest"
)

// each runs a test in a bubble, once with the system clock and once with the test clock.
func each(t *testing.T, test func(t *testing.T, c clock.Clock)) {
	for name, make := range map[string]func() clock.Clock{
		"system": func() clock.Clock { return clock.System },
		"test":   func() clock.Clock { return clocktest.New() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, make()) })
		})
	}
}

func TestTimeAdvances(t *testing.T) {
	each(t, func(t *testing.T, c clock.Clock) {
		now, up := c.Now(), c.Uptime()
		if up <= 0 {
			t.Errorf("the uptime is %v at the beginning", up)
		}
		time.Sleep(time.Minute)
		if d := c.Now().Sub(now); d != time.Minute {
			t.Errorf("after a minute, the time of day has advanced by %v", d)
		}
		if d := c.Uptime() - up; d != time.Minute {
			t.Errorf("after a minute, the uptime has advanced by %v", d)
		}
	})
}

func TestAFunctionIsCalledOnceAfterItsDelay(t *testing.T) {
	each(t, func(t *testing.T, c clock.Clock) {
		began, calls := c.Uptime(), make(chan time.Duration, 2)
		timer := c.AfterFunc(time.Second, func() { calls <- c.Uptime() })
		if timer.C() != nil {
			t.Error("the timer of a function has a channel")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(calls) != 1 {
			t.Fatalf("the function was called %d times, want 1", len(calls))
		}
		if d := <-calls - began; d != time.Second {
			t.Errorf("the function was called after %v, want 1 s", d)
		}
		if timer.Stop() {
			t.Error("Stop after the call returned true")
		}
	})
}

func TestASlowFunctionDoesNotDelayOthers(t *testing.T) {
	each(t, func(t *testing.T, c clock.Clock) {
		done := make(chan struct{})
		for range 2 {
			c.AfterFunc(time.Second, func() { // the second function waits for the first
				select {
				case done <- struct{}{}:
				case <-done:
				}
			})
		}
		time.Sleep(time.Second)
		synctest.Wait() // synctest reports a function that is left waiting
	})
}

func TestAStoppedTimerDoesNotFire(t *testing.T) {
	each(t, func(t *testing.T, c clock.Clock) {
		f := c.AfterFunc(time.Second, func() { t.Error("a stopped function was called") })
		timer, ticker := c.NewTimer(time.Second), c.NewTicker(time.Second)
		if !f.Stop() || !timer.Stop() {
			t.Error("Stop before the timer fired returned false")
		}
		ticker.Stop()
		if f.Stop() || timer.Stop() {
			t.Error("the second Stop returned true")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		wantEmpty(t, timer.C())
		wantEmpty(t, ticker.C())
	})
}

// Since Go 1.23, nothing is received from a timer or ticker after Stop. Code that stops one timer
// and waits for another relies on this.
func TestNothingIsReceivedAfterStop(t *testing.T) {
	each(t, func(t *testing.T, c clock.Clock) {
		timer, ticker := c.NewTimer(time.Second), c.NewTicker(time.Second)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !timer.Stop() {
			t.Error("Stop of a fired timer with an unread channel returned false")
		}
		ticker.Stop()
		wantEmpty(t, timer.C())
		wantEmpty(t, ticker.C())
	})
}

func TestATimerFiresOnce(t *testing.T) {
	each(t, func(t *testing.T, c clock.Clock) {
		began, timer := c.Uptime(), c.NewTimer(time.Second)
		<-timer.C()
		if d := c.Uptime() - began; d != time.Second {
			t.Errorf("the timer fired after %v, want 1 s", d)
		}
		time.Sleep(time.Hour)
		wantEmpty(t, timer.C())
		if timer.Stop() {
			t.Error("Stop after the receive returned true")
		}
	})
}

func TestATickerKeepsItsIntervalAfterDroppedTicks(t *testing.T) {
	each(t, func(t *testing.T, c clock.Clock) {
		ticker, began := c.NewTicker(time.Second), c.Uptime()
		defer ticker.Stop()
		for i := range 3 {
			<-ticker.C()
			if d := c.Uptime() - began; d != time.Duration(i+1)*time.Second {
				t.Errorf("tick %d came after %v, want %d s", i+1, d, i+1)
			}
		}
		time.Sleep(3500 * time.Millisecond) // three ticks are due, and the channel holds one of them
		<-ticker.C()
		wantEmpty(t, ticker.C())
		<-ticker.C()
		if d := c.Uptime() - began; d != 7*time.Second {
			t.Errorf("the tick after the dropped ones came after %v, want 7 s", d)
		}
	})
}

// wantEmpty verifies that a channel has no value.
func wantEmpty(t *testing.T, c <-chan time.Time) {
	t.Helper()
	select {
	case <-c:
		t.Error("the channel has a value, want none")
	default:
	}
}

func TestAContextEndsAtItsTimeout(t *testing.T) {
	each(t, func(t *testing.T, c clock.Clock) {
		began := c.Uptime()
		ctx, cancel := clock.WithTimeout(context.Background(), c, time.Second)
		defer cancel()
		if ctx.Err() != nil {
			t.Error("the new context has already ended")
		}
		<-ctx.Done()
		if d := c.Uptime() - began; d != time.Second || ctx.Err() != context.DeadlineExceeded {
			t.Errorf("the context ended after %v: %v", d, ctx.Err())
		}
	})
}

func TestAContextCanEndBeforeItsTimeout(t *testing.T) {
	for name, end := range map[string]func(cancel, cancelParent func()){
		"by its cancel function": func(cancel, _ func()) { cancel() },
		"by its parent":          func(_, cancelParent func()) { cancelParent() },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, c clock.Clock) {
				parent, cancelParent := context.WithCancel(context.Background())
				defer cancelParent()
				ctx, cancel := clock.WithTimeout(parent, c, time.Second)
				defer cancel()
				end(cancel, cancelParent)
				<-ctx.Done()
				time.Sleep(time.Minute)
				if !errors.Is(ctx.Err(), context.Canceled) {
					t.Errorf("the context ended with %v, want Canceled", ctx.Err())
				}
			})
		})
	}
}

// Every durable command reads the clock, so reading it must not allocate.
func TestReadingTheSystemClockAllocatesNothing(t *testing.T) {
	c := clock.System
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Now(), c.Uptime() }); n != 0 {
		t.Errorf("reading the time makes %v allocations", n)
	}
	plain := testing.AllocsPerRun(100, func() { time.NewTimer(time.Hour).Stop() })
	if n := testing.AllocsPerRun(100, func() { c.NewTimer(time.Hour).Stop() }); n != plain {
		t.Errorf("a timer makes %v allocations, a timer of package time %v", n, plain)
	}
}
