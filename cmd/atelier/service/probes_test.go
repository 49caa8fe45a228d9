package service

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// counted returns a probe whose value is the number of its runs. Each run takes the given time.
func counted(ctx context.Context, maxAge, takes time.Duration) *probe[int] {
	n := 0
	l := newProbe(maxAge, func(context.Context) int {
		time.Sleep(takes) // by the test bubble's clock
		n++
		return n
	})
	go l.run(ctx)
	return l
}

func TestAProbeReturnsACachedValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		l := counted(ctx, 5*time.Second, time.Millisecond)
		ask := func() int {
			l.want()
			l.want() // another caller
			n, known := l.get(ctx)
			if !known {
				t.Error("no value is known")
			}
			return n
		}
		if n := ask() + ask(); n != 2 {
			t.Errorf("the value was determined again immediately: %d, want 2", n)
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if n := ask(); n != 2 {
			t.Errorf("the later value is %d, want 2", n)
		}
	})
}

// A hanging disk blocks no caller beyond the caller's timeout, and an earlier result does not count
// as new.
func TestAHangingProbeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		hangs, first := make(chan struct{}), true
		l := newProbe(5*time.Second, func(context.Context) int {
			if !first {
				<-hangs
			}
			first = false
			return 7
		})
		go l.run(ctx)
		ask := func(from func(context.Context) (int, bool)) (n int, known bool, took time.Duration) {
			patient, done := context.WithTimeout(ctx, healthTimeout)
			defer done()
			began := time.Now()
			l.want()
			n, known = from(patient)
			return n, known, time.Since(began)
		}
		if n, known, _ := ask(l.get); n != 7 || !known {
			t.Errorf("before the probe hangs, get returned %d, known: %v", n, known)
		}
		time.Sleep(time.Minute)
		for range 3 {
			if _, known, took := ask(l.get); known || took != healthTimeout {
				t.Errorf("from the hanging probe, get returned known: %v, after %s", known, took)
			}
		}
		if n, known, took := ask(l.last); n != 7 || !known || took != 0 {
			t.Errorf("while the probe hangs, last returned %d, known: %v, after %s", n, known, took)
		}
		close(hangs)
		synctest.Wait()
		if n, known, _ := ask(l.get); n != 7 || !known {
			t.Errorf("after the probe hung, get returned %d, known: %v", n, known)
		}
		end()
	})
}

// Not every visit to the page reads the sizes of a million files, because the probe limits itself
// to one percent of the time.
func TestExpensiveProbesRunRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		l := counted(ctx, time.Minute, 3*time.Second)
		l.costly = true
		l.want()
		if n, known := l.last(ctx); n != 1 || !known {
			t.Errorf("the first value is %d, known: %v", n, known)
		}
		for range 28 { // 280 s; a rerun is due after 300 s, a hundred times the run time
			time.Sleep(10 * time.Second)
			l.want()
		}
		if n, _ := l.last(ctx); n != 1 {
			t.Errorf("%d runs within five minutes, want 1", n)
		}
		time.Sleep(time.Minute)
		l.want()
		time.Sleep(time.Minute)
		if n, _ := l.last(ctx); n != 2 {
			t.Errorf("%d runs after the rerun was due, want 2", n)
		}
	})
}

// Shutdown does not wait for a hanging disk.
func TestShutdownDoesNotWaitForAHangingProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Service{}
		hangs := make(chan struct{})
		s.probes.running.Go(func() { <-hangs })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.stopProbes(ctx); err != nil || ctx.Err() == nil {
			t.Errorf("stopProbes returned %v, the context %v", err, ctx.Err())
		}
		close(hangs)
		if err := s.stopProbes(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
