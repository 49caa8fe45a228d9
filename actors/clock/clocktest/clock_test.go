package clocktest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock"
)

// The tests of package clock cover this clock while its offset is 0 and it is not stopped.

func TestAnOffsetChangesOnlyTheTimeOfDay(t *testing.T) {
	for _, offset := range []time.Duration{time.Hour, -time.Hour, 30 * 24 * time.Hour} {
		t.Run(offset.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New()
				now, up, timer := c.Now(), c.Uptime(), c.NewTimer(time.Minute)
				c.SetOffset(offset)
				if d := c.Now().Sub(now); d != offset {
					t.Errorf("the time of day jumped by %v", d)
				}
				if c.Uptime() != up {
					t.Errorf("the uptime jumped by %v", c.Uptime()-up)
				}
				<-timer.C()
				if d := c.Uptime() - up; d != time.Minute {
					t.Errorf("a timer of a minute took %v", d)
				}
				c.SetOffset(0)
				if d := c.Now().Sub(now); d != time.Minute {
					t.Errorf("without the offset, a minute was %v", d)
				}
			})
		})
	}
}

// fired records which timers fire, and when.
type fired struct {
	began time.Time
	mu    sync.Mutex
	what  []string
}

func (f *fired) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.what = append(f.what, fmt.Sprintf("%s@%v", what, time.Since(f.began)))
}

func TestNothingFiresWhileTheClockIsStopped(t *testing.T) {
	// start starts timers on a clock that pauses from second 2 to 10.
	for name, tc := range map[string]struct {
		start func(c *Clock, f *fired)
		want  []string
	}{
		"functions": {
			start: func(c *Clock, f *fired) {
				for _, at := range []time.Duration{1, 4, 12} {
					c.AfterFunc(at*time.Second, func() { f.note("call") })
				}
			},
			want: []string{"call@1s", "call@10s", "call@12s"},
		},
		"functions that wait for each other": {
			start: func(c *Clock, f *fired) {
				met := make(chan struct{})
				c.AfterFunc(3*time.Second, func() { met <- struct{}{} })
				c.AfterFunc(4*time.Second, func() { <-met; f.note("met") })
			},
			want: []string{"met@10s"},
		},
		"timer": {
			start: func(c *Clock, f *fired) {
				timer := c.NewTimer(5 * time.Second)
				go func() { <-timer.C(); f.note("timer") }()
			},
			want: []string{"timer@10s"},
		},
		"ticker": { // it fires once for all missed ticks, and the next ticks keep their times
			start: func(c *Clock, f *fired) {
				ticker := c.NewTicker(1500 * time.Millisecond)
				go func() {
					defer ticker.Stop()
					for range 4 {
						<-ticker.C()
						f.note("tick")
					}
				}()
			},
			want: []string{"tick@1.5s", "tick@10s", "tick@10.5s", "tick@12s"},
		},
		"started while stopped": {
			start: func(c *Clock, f *fired) {
				time.AfterFunc(3*time.Second, func() {
					c.AfterFunc(time.Second, func() { f.note("call") })
				})
			},
			want: []string{"call@10s"},
		},
		"context": {
			start: func(c *Clock, f *fired) {
				ctx, cancel := clock.WithTimeout(context.Background(), c, 3*time.Second)
				go func() { defer cancel(); <-ctx.Done(); f.note(ctx.Err().Error()) }()
			},
			want: []string{"context deadline exceeded@10s"},
		},
		"stopped timer": {
			start: func(c *Clock, f *fired) {
				timer := c.AfterFunc(3*time.Second, func() { f.note("call") })
				time.AfterFunc(5*time.Second, func() { f.note(fmt.Sprint("prevented: ", timer.Stop())) })
			},
			want: []string{"prevented: true@5s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, f := New(), &fired{began: time.Now()}
				tc.start(c, f)
				time.Sleep(2 * time.Second)
				c.Stop()
				up := c.Uptime()
				time.Sleep(8 * time.Second)
				if d := c.Uptime() - up; d != 8*time.Second {
					t.Errorf("the uptime of the stopped clock advanced by %v, want 8 s", d)
				}
				c.Continue()
				c.Stop() // timers that have fired do not fire again
				c.Continue()
				time.Sleep(time.Minute)
				synctest.Wait()
				if !slices.Equal(f.what, tc.want) {
					t.Errorf("fired: %v, want %v", f.what, tc.want)
				}
			})
		})
	}
}

// The functions run concurrently, so only the order of their starts is defined.
func TestLateTimersStartInTheOrderOfTheirDueTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		c.Stop()
		names := map[clock.Timer]string{}
		for _, at := range []int{3, 1, 2} {
			names[c.AfterFunc(time.Duration(at)*time.Second, func() {})] = fmt.Sprint(at)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		var order []string
		for _, late := range c.late {
			order = append(order, names[late])
		}
		if !slices.Equal(order, []string{"1", "2", "3"}) {
			t.Errorf("the functions start in the order %v", order)
		}
	})
}

// Stopped timers are not kept, even if they became due while the clock was stopped and nothing
// received from them.
func TestStoppedTimersAreNotKept(t *testing.T) {
	for name, late := range map[string]bool{"stopped before they are due": false, "stopped when they are late": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New()
				c.Stop()
				f, once, ticker := c.AfterFunc(time.Second, func() {}), c.NewTimer(time.Second), c.NewTicker(time.Second)
				_, cancel := clock.WithTimeout(context.Background(), c, time.Second)
				if late {
					time.Sleep(time.Minute)
					synctest.Wait()
					if len(c.late) != 4 {
						t.Errorf("%d timers are late, want 4", len(c.late))
					}
				}
				f.Stop()
				once.Stop()
				ticker.Stop()
				cancel()
				for _, stopped := range []clock.Timer{f, once} {
					if stopped.(*timer).under.Stop() {
						t.Error("package time still has a stopped timer")
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(c.late) != 0 {
					t.Errorf("%d stopped timers are kept", len(c.late))
				}
			})
		})
	}
}

// Package time calls the method due in a goroutine. If Stop is called before due runs, the timer
// does not fire.
func TestATimerStoppedWhileBecomingDueDoesNotFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New().AfterFunc(time.Second, func() { t.Error("a stopped function was called") }).(*timer)
		f.Stop()
		f.due()
	})
}
