package durable_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/clock/clocktest"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// inBubble runs a test that starts a host in a bubble of synctest.
func inBubble(t *testing.T, test func(t *testing.T)) {
	clocktest.Bubble(t, func(t *testing.T) {
		// The actor library runs a timer for a moment after a dead letter. It must end before the
		// test, because the bubble's time then stops.
		t.Cleanup(func() { time.Sleep(time.Second) })
		test(t)
	})
}

// dated is a tally that records the time passed to its last decision.
type dated struct {
	tally
	at *atomic.Int64
}

func (d *dated) Decide(cmd string, env durable.Env) (durable.Decision[string], error) {
	d.at.Store(env.Now.UnixMilli())
	return d.tally.Decide(cmd, env)
}

func TestDecisionsGetTheirNodesTimeOfDay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, k, at := clocktest.New(), kind(), new(atomic.Int64)
		k.New = func(string) durable.Core[string, string, sumView] { return &dated{at: at} }
		hd := get(t, start(t, store(t), k, durable.Options{Clock: c}), "a")
		for _, offset := range []time.Duration{0, time.Hour, -time.Hour} {
			c.SetOffset(offset)
			ask(t, hd, "1")
			if want := time.Now().Add(offset).UnixMilli(); at.Load() != want {
				t.Errorf("with a clock offset of %v, the decision has the time %v, want %v", offset, at.Load(), want)
			}
		}
	})
}

// In an earlier version, a jump of the time of day put actors to rest.
func TestIdleTimeIsMeasuredByUptime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := clocktest.New()
		h := start(t, store(t), kind(), durable.Options{Clock: c, IdleAfter: time.Hour})
		ask(t, get(t, h, "a"), "1")
		c.SetOffset(24 * time.Hour)
		time.Sleep(50 * time.Minute)
		if h.Peek("a") == nil {
			t.Error("a jump of the time of day put an actor to rest")
		}
		c.SetOffset(-24 * time.Hour)
		time.Sleep(30 * time.Minute)
		if h.Peek("a") != nil {
			t.Error("the actor does not rest after its idle time")
		}
	})
}

// Failures close together lead to a quarantine, and failures far apart do not. Jumps of the time of
// day between the failures make no difference.
func TestFailuresAreCountedByUptime(t *testing.T) {
	for name, tc := range map[string]struct {
		apart       time.Duration
		jump        time.Duration
		quarantined bool
	}{
		"close together": {apart: time.Second, jump: time.Hour, quarantined: true},
		"far apart":      {apart: time.Hour, jump: -time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c := clocktest.New()
				h := start(t, store(t), kind(), durable.Options{Clock: c, MaxFailures: 2, IdleAfter: -1})
				for i := range 3 {
					time.Sleep(tc.apart)
					c.SetOffset(time.Duration(i) * tc.jump)
					_, _, _ = get(t, h, "a").Ask("poison")
				}
				time.Sleep(time.Minute) // less than a quarantine lasts
				if _, err := h.Get("a"); errors.Is(err, durable.ErrQuarantined) != tc.quarantined {
					t.Errorf("quarantined should be %v, Get returned %v", tc.quarantined, err)
				}
			})
		})
	}
}

// The age of a replica follows the uptime. Setting the clock back or forward does not change it.
func TestTheAgeOfAReplicaIsMeasuredByUptime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var clocks []*clocktest.Clock
		c := newClanWith(t, 2, func(o *durable.Options) {
			clocks = append(clocks, clocktest.New())
			o.Clock = clocks[len(clocks)-1]
		})
		ask(t, get(t, c.hosts[0], "a"), "1")
		follower := get(t, c.hosts[1], "a")
		clocks[1].SetOffset(24 * time.Hour)
		if !follower.Fresh(time.Second) || c.hosts[1].Replicas().Age > time.Second {
			t.Errorf("a jump of the clock made the replica old: %v", c.hosts[1].Replicas().Age)
		}
		c.net.Cut("n1", "n2")
		c.net.Cut("n2", "n1")
		time.Sleep(time.Minute)
		clocks[1].SetOffset(-24 * time.Hour)
		if follower.Fresh(time.Second) || c.hosts[1].Replicas().Age < 59*time.Second {
			t.Errorf("a replica of a minute ago counts as fresh: %v", c.hosts[1].Replicas().Age)
		}
	})
}

// While a process is suspended, no wait ends and nothing restarts. When the process resumes,
// everything that is due happens.
func TestAPausedNodeExecutesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		options durable.Options
		// within is the maximum time from resuming the clock until the event. 0 means one second.
		within  time.Duration
		prepare func(t *testing.T, j *memory.Store, h *host) (happened func() bool)
	}{
		"a wait for an answer ends": {
			within: 11 * time.Second, // a wait counts ticks, and a late ticker ticks only once
			prepare: func(t *testing.T, j *memory.Store, h *host) func() bool {
				t.Cleanup(j.Hold())
				hd, done := get(t, h, "a"), make(chan error, 1)
				go func() { _, _, err := hd.Ask("1"); done <- err }()
				return func() bool { return len(done) == 1 && errors.Is(<-done, durable.ErrTimeout) }
			},
		},
		"an actor rests": {
			options: durable.Options{IdleAfter: 20 * time.Second},
			prepare: func(t *testing.T, _ *memory.Store, h *host) func() bool {
				get(t, h, "a")
				return func() bool { return h.Peek("a") == nil }
			},
		},
		"an actor restarts": {
			options: durable.Options{BackoffMin: 10 * time.Second},
			prepare: func(t *testing.T, _ *memory.Store, h *host) func() bool {
				hd := get(t, h, "a")
				if err := hd.Submit("poison", nil); err != nil {
					t.Fatal(err)
				}
				return func() bool { return hd.Condition() == durable.Running }
			},
		},
		"a quarantine ends": {
			options: durable.Options{MaxFailures: -1, QuarantineFor: 10 * time.Second},
			prepare: func(t *testing.T, _ *memory.Store, h *host) func() bool {
				if err := get(t, h, "a").Submit("poison", nil); err != nil {
					t.Fatal(err)
				}
				return func() bool { return h.Peek("a") == nil }
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c, j := clocktest.New(), store(t)
				tc.options.Clock = c
				h := start(t, j, kind(), tc.options)
				get(t, h, "a")
				happened := tc.prepare(t, j, h)
				synctest.Wait()
				c.Stop()
				time.Sleep(time.Hour)
				synctest.Wait()
				if happened() {
					t.Error("the event happened while the clock was stopped")
				}
				c.Continue()
				time.Sleep(max(tc.within, time.Second))
				synctest.Wait()
				if !happened() {
					t.Error("the event did not happen after the clock had resumed")
				}
			})
		})
	}
}
