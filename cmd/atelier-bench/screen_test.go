//go:build linux

package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"atelier/bench/fanout"
	"atelier/bench/latency"
	"atelier/bench/workshop"
)

// stderrOf returns the text that do writes to standard error.
func stderrOf(t *testing.T, do func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = w
	do()
	os.Stderr = old
	_ = w.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Before anything is timed, the screen shows no latency, not even 0 ms.
func TestNoLatencyIsShownBeforeOneIsMeasured(t *testing.T) {
	timed := latency.Summary{Count: 1, P50: 1.25, P99: 2.5}
	for name, c := range map[string]struct {
		show  func(*screen)
		timed bool
	}{
		"workshop":           {func(s *screen) { s.workshop(workshop.Snapshot{Phase: "x", People: 3}) }, false},
		"workshop with chat": {func(s *screen) { s.workshop(workshop.Snapshot{Phase: "x", Chat: timed}) }, true},
		"rest":               {func(s *screen) { s.rest("x", 0, 0, 0, 0) }, false},
		"rest with requests": {func(s *screen) { s.rest("x", 0, 0, 5, 2.5) }, true},
		"fanout warming up":  {func(s *screen) { s.broadcast(fanout.Progress{Phase: "x", Messages: 5, Deliveries: 50}) }, false},
		"fanout":             {func(s *screen) { s.broadcast(fanout.Progress{Phase: "x", Deliveries: 50, P50: 1.25, P99: 2.5, Max: 3}) }, true},
	} {
		if got := stderrOf(t, func() { c.show(&screen{}) }); strings.Contains(got, " ms") != c.timed || got == "" {
			t.Errorf("%s: the screen shows %q", name, got)
		}
	}
}
