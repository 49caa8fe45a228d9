package timeline

import (
	"testing"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
	"atelier/bench/server"
)

func TestSecondsAreStoredSeparately(t *testing.T) {
	now := 3 * time.Second
	c := New(func() time.Duration { return now })
	c.Begin(4 * time.Second)
	c.Enter("warm-up")
	c.Done(5*time.Millisecond, false)
	c.Sent()
	c.Online(4)
	var out report.Result
	if c.Put(&out); len(out.Series) != 1 {
		t.Errorf("the series has %d seconds, want 1", len(out.Series))
	}
	if since := time.Until(out.Zero); since < 0 || since > time.Second {
		t.Errorf("the load begins in %v", since)
	}
	now = 4500 * time.Millisecond
	c.Enter("load")
	c.Done(7*time.Millisecond, true)
	c.Done(9*time.Millisecond, true)
	c.Failed()
	more := latency.New()
	more.Record(50 * time.Millisecond)
	c.Add(report.Sample{Deliveries: 1, Open: 6, Counts: more}, 4)
	begin := time.Now()
	c.See(begin, server.Inside{Usage: server.Usage{CPU: time.Second}})
	now = 6 * time.Second
	c.See(begin.Add(2*time.Second), server.Inside{Usage: server.Usage{CPU: 2 * time.Second, RSS: 9}, GCPause: time.Millisecond})
	got := c.Samples()
	if len(got) != 2 || got[0].Second != -1 || got[0].Phase != "warm-up" || got[0].Messages != 1 || got[0].Deliveries != 1 || got[0].Counts != nil || got[0].Open != 4 {
		t.Fatalf("the seconds are %+v", got)
	}
	if s := got[1]; s.Second != 0 || s.Phase != "load" || s.Deliveries != 3 || s.Errors != 1 || s.Open != 6 || s.Max < 49 || s.P50 > 10 {
		t.Errorf("second 0 is %+v", s)
	}
	// The last second contains only a measurement of the server.
	if s := c.Second(6); s.CPU != 0.5 || s.RSS != 9 || s.GC != 1 {
		t.Errorf("second 6 is %+v", s)
	}
	if s := c.Second(99); s.Phase != "load" || s.Deliveries != 0 {
		t.Errorf("second 99 is %+v", s)
	}
}

func TestALongTimelineIsLimited(t *testing.T) {
	c := New(func() time.Duration { return 0 })
	for n := range int64(longest + 10) {
		c.Add(report.Sample{Messages: 1}, n)
	}
	if len(c.seconds) != longest {
		t.Errorf("%d seconds are stored, want %d", len(c.seconds), longest)
	}
}

// Each worker reports its own connections.
func TestConnectionsOfAllWorkersAreAdded(t *testing.T) {
	c := New(func() time.Duration { return 0 })
	c.Add(report.Sample{Open: 3}, 1)
	c.Add(report.Sample{Open: 4}, 1)
	if got := c.Second(1).Open; got != 7 {
		t.Errorf("%d connections are open, want 7", got)
	}
}

// The usage of a load counts from its planned beginning, even if the machine was busy then. A load
// that ended before its planned beginning has no usage.
func TestUsageOfALoadIsMeasuredFromItsBeginning(t *testing.T) {
	for from, want := range map[time.Duration]time.Duration{3 * time.Second: 2 * time.Second, time.Hour: 0} {
		now := 5 * time.Second
		c := New(func() time.Duration { return now })
		begin, end := c.Weigh(from, &server.Target{})()
		var out report.Result
		if end.Account(begin, &server.Target{}, nil, &out) != (want > 0) || out.Duration != want.Seconds() {
			t.Errorf("a load from %v to %v lasts %v s", from, now, out.Duration)
		}
	}
}
