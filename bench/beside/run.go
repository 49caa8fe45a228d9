//go:build linux

package beside

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"atelier/bench/api"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/workshop"
)

// These are the parts of a run.
const (
	without = iota
	with
	parts
)

// load is the additional load of a run.
type load interface {
	// prepare creates what the load needs. It can change the configuration of the workshop.
	prepare(ctx context.Context, w *workshop.Config) error
	// partOf returns the part of the run to which a moment belongs, or -1 if it belongs to neither.
	// The moment counts from the beginning of the measured time.
	partOf(since time.Duration) int
	// run generates the load until ctx ends, and waits for the responses.
	run(ctx context.Context, live *workshop.Live)
	// conclude adds the results of the load to the results of the workshop.
	conclude(*report.Result)
}

// site is the server of a run, with the session of an admin.
type site struct {
	*api.Client
	admin api.Session

	// mu guards the tallies, and the fields of the loads that are marked "guarded by mu".
	mu sync.Mutex
}

// note calls change while it holds mu.
func (s *site) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// within is the timeout of a request of the load.
const within = 60 * time.Second

// run runs a workshop together with the additional load.
func run(ctx context.Context, name string, w workshop.Config, target *server.Target, newLoad func(*site) load) (*report.Result, error) {
	w.DrawSeed()
	client, err := target.Client(within)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	s := &site{Client: client}
	if s.admin, err = client.Login(target.AdminID, target.AdminPW, "Beside the workshop"); err != nil {
		return nil, err
	}
	l := newLoad(s)
	if err := l.prepare(ctx, &w); err != nil {
		return nil, fmt.Errorf("prepare the %s: %w", name, err)
	}
	var weights []report.Weight
	w.Scenario, w.Parts, w.PartOf = name, parts, l.partOf
	w.Beside = func(ctx context.Context, live *workshop.Live) {
		if target.Usage != nil {
			defer pacing.Every(ctx, time.Second, func() {
				since := time.Since(live.Began)
				if u, err := target.Usage(); err == nil && l.partOf(since) >= 0 {
					weights = append(weights, report.Weight{Second: since.Seconds(), RSS: u.RSS, Part: l.partOf(since)})
				}
			})()
		}
		l.run(ctx, live)
	}
	result, err := w.Run(ctx, target)
	if err != nil {
		return nil, err
	}
	result.Memory = weights
	result.Parts[without].Name, result.Parts[with].Name = "without "+name, "with "+name
	weigh(result)
	l.conclude(result)
	return result, nil
}

// weigh summarizes the memory of each part.
func weigh(r *report.Result) {
	for i := range r.Parts {
		var of []int64
		sum := int64(0)
		for _, w := range r.Memory {
			if w.Part == i {
				of, sum = append(of, w.RSS), sum+w.RSS
			}
		}
		if len(of) > 0 {
			p := &r.Parts[i]
			p.Lowest, p.Mean, p.Highest = slices.Min(of), sum/int64(len(of)), slices.Max(of)
		}
	}
}

// request makes a request that was planned for due, and counts its result in t. A response that is
// not 2xx is returned together with an error.
func (s *site) request(t *report.Tally, due time.Time, r *api.Request) (*api.Answer, error) {
	a, err := s.Do(r)
	s.note(func() {
		switch {
		case err != nil:
			t.GiveUp(err.Error())
		case !a.OK():
			err = a.Err()
			t.Refuse(err.Error())
		default:
			t.Succeed(time.Since(due), true)
		}
	})
	return a, err
}

// names returns the names of the values that a workshop and the load measure.
func names(operations ...string) report.Names {
	return report.Names{Operations: slices.Concat(workshop.Names.Operations, operations), Figures: workshop.Names.Figures}
}
