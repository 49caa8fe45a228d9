package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/cmd/atelier/config"
)

// A failed start leaves nothing that blocks the next start: no address, no lock, no socket.
func TestAFailedStartStopsThePartsThatItStarted(t *testing.T) {
	cfg := config.Default()
	cfg.Server.Data, cfg.Server.ShutdownDelay = t.TempDir(), 0
	free := bustest.Addresses(t, 2)
	cfg.Server.Listen, cfg.Server.InternalListen = free[0], free[1]
	log := slog.New(slog.DiscardHandler)
	broken := errors.New("this part cannot be started")
	for i, p := range unstarted(cfg).parts() {
		s := unstarted(cfg)
		parts := s.parts()
		parts[i].start = func() error { return broken }
		if err := s.start(parts); !errors.Is(err, broken) {
			t.Fatalf("starting without %s: %v", p.name, err)
		}
		if err := s.Stop(); err != nil {
			t.Errorf("stopping after a start without %s: %v", p.name, err)
		}
		whole, err := Start(cfg, Options{}, log)
		if err != nil {
			t.Fatalf("the start after one without %s: %v", p.name, err)
		}
		if err := whole.Stop(); err != nil {
			t.Errorf("stopping the complete server after a start without %s: %v", p.name, err)
		}
	}
}

// A start is retried only if it lost its lease.
func TestAStartThatLostItsLeaseIsRetried(t *testing.T) {
	fenced, other := fmt.Errorf("read a secret: %w", durable.ErrFenced), errors.New("the port is taken")
	unrecorded := fmt.Errorf("settings: %w", durable.ErrUnavailable)
	for name, c := range map[string]struct {
		outcomes []error // outcome of each start; the last one repeats
		starts   int
	}{
		"at once":     {[]error{nil}, 1},
		"lost":        {[]error{fenced, fenced, nil}, 3},
		"by an actor": {[]error{unrecorded, nil}, 2},
		"refused":     {[]error{fenced, other}, 2},
		"never":       {[]error{fenced}, maxStarts},
	} {
		starts := 0
		var last error
		err := retryStart(slog.New(slog.DiscardHandler), func() error {
			last = c.outcomes[min(starts, len(c.outcomes)-1)]
			starts++
			return last
		})
		if starts != c.starts || !errors.Is(err, last) {
			t.Errorf("%s: %d starts, %v", name, starts, err)
		}
	}
}

func TestPartsAreStoppedInReverseOrder(t *testing.T) {
	s := unstarted(config.Default())
	var order []string
	note := func(what string) func() error {
		return func() error {
			order = append(order, what)
			return nil
		}
	}
	stop := func(what string) func(context.Context) error {
		return func(context.Context) error { return note(what)() }
	}
	failed := errors.New("b does not stop")
	err := s.start([]part{
		{name: "a", start: note("a"), stop: stop("no a")},
		{name: "b", start: note("b"), stop: func(context.Context) error { return failed }},
		{name: "c", start: note("c")},
		{name: "d", start: note("d"), stop: stop("no d"), share: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); !errors.Is(err, failed) || err.Error() != "stop b: b does not stop" {
		t.Errorf("the error is %v", err)
	}
	if want := []string{"a", "b", "c", "d", "no d", "no a"}; !slices.Equal(order, want) {
		t.Errorf("the order is %q", order)
	}
}

func unstarted(cfg config.Config) *Service {
	return newService(cfg, Options{}, slog.New(slog.DiscardHandler))
}
