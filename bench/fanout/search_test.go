//go:build linux

package fanout

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
)

// The search doubles the rate until one is missed, or halves it until one is kept. Then it tries
// the middle until the interval is small enough.
func TestTheHighestRateIsFound(t *testing.T) {
	p99, err := report.ParseThreshold("p99<50ms")
	if err != nil {
		t.Fatal(err)
	}
	limits := &report.Limits{MaxLag: 10 * time.Millisecond, Thresholds: []report.Threshold{p99}}
	// Above server, p99 exceeds 50 ms. Above generator, the generator is late. Above broken, no
	// response arrives.
	for name, c := range map[string]struct {
		start                     float64
		most                      int
		server, generator, broken float64
		interrupted               int // the step in which the run is interrupted
		busy                      int // the step that misses the threshold at any rate
		tried                     []float64
		kept, missed              float64
		by                        report.Limit
		code                      int
	}{
		"up":                 {start: 100, most: 20, server: 700, tried: []float64{100, 200, 400, 800, 800, 600, 700, 750, 750, 725, 725}, kept: 700, missed: 725, by: report.LimitedByServer},
		"down":               {start: 100, most: 20, server: 30, tried: []float64{100, 100, 50, 50, 25, 37.5, 37.5, 31.25, 31.25, 28.125, 29.6875, 30.46875, 30.46875}, kept: 29.6875, missed: 30.46875, by: report.LimitedByServer},
		"never":              {start: 3, most: 20, server: 0.1, tried: []float64{3, 3, 1.5, 1.5}, missed: 1.5, by: report.LimitedByServer, code: 1},
		"always":             {start: 6e6, most: 20, server: 1e9, tried: []float64{6e6}, kept: 6e6, by: report.LimitedByRange},
		"the generator":      {start: 100, most: 20, server: 1e9, generator: 150, tried: []float64{100, 200, 200, 150, 175, 175, 162.5, 162.5, 156.25, 156.25}, kept: 150, missed: 156.25, by: report.LimitedByGenerator, code: 2},
		"both":               {start: 100, most: 20, server: 100, generator: 100, tried: []float64{100, 200, 200, 150, 150, 125, 125, 112.5, 112.5, 106.25, 106.25, 103.125, 103.125}, kept: 100, missed: 103.125, by: report.LimitedByGenerator, code: 2},
		"always late":        {start: 2, most: 20, server: 1e9, generator: 0.1, tried: []float64{2, 2, 1, 1}, missed: 1, by: report.LimitedByGenerator, code: 2},
		"few steps":          {start: 100, most: 3, server: 1e9, tried: []float64{100, 200, 400}, kept: 400, by: report.LimitedBySteps},
		"enough steps":       {start: 100, most: 11, server: 700, tried: []float64{100, 200, 400, 800, 800, 600, 700, 750, 750, 725, 725}, kept: 700, missed: 725, by: report.LimitedByServer},
		"too few to be sure": {start: 100, most: 4, server: 700, tried: []float64{100, 200, 400, 800}, kept: 400, by: report.LimitedBySteps},
		"busy for a moment":  {start: 100, most: 20, server: 250, busy: 2, tried: []float64{100, 200, 200, 400, 400, 300, 300, 250, 275, 275, 262.5, 262.5}, kept: 250, missed: 262.5, by: report.LimitedByServer},
		"broken":             {start: 100, most: 20, server: 1e9, broken: 300, tried: []float64{100, 200, 400}, kept: 200, missed: 400, by: report.LimitedByError, code: 1},
		"interrupted":        {start: 100, most: 20, server: 1e9, interrupted: 3, tried: []float64{100, 200, 400}, kept: 200, by: report.LimitedByInterruption, code: 130},
		"interrupted early":  {start: 100, most: 20, server: 1e9, interrupted: 1, tried: []float64{100}, by: report.LimitedByInterruption, code: 130},
	} {
		t.Run(name, func(t *testing.T) {
			var tried []float64
			cfg := &Config{Scenario: "fanout", Subscribers: 1, Publishing: Publishing{Publishers: 1, Rate: c.start}, Progress: func(p Progress) {
				if p.Step != len(tried) || p.Rate != tried[len(tried)-1] {
					t.Errorf("step %d is shown as %d, with %g per second", len(tried), p.Step, p.Rate)
				}
			}}
			r, err := findMax(cfg, c.most, func(step *Config) (*report.Result, error) {
				rate := step.Rate
				tried = append(tried, rate)
				step.Progress(Progress{})
				r := newResult(step)
				r.Latency = latency.Summary{Count: 1, P99: 10}
				if rate > c.server || len(tried) == c.busy {
					r.Latency.P99 = 60
				}
				if c.generator > 0 && rate > c.generator {
					r.Generator.Lag.P99 = 20
				}
				if c.broken > 0 && rate > c.broken {
					return nil, errors.New("nobody could connect")
				}
				r.Interrupted = len(tried) == c.interrupted
				return r, r.Judge(limits)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Judge(limits); err != nil {
				t.Fatal(err)
			}
			s := r.Search
			if !slices.Equal(tried, c.tried) || s.HighestRate != c.kept || s.LowestMissed != c.missed || s.LimitedBy != c.by {
				t.Errorf("the tried rates are %v; %+v", tried, *s)
			}
			if code := r.ExitCode(); code != c.code {
				t.Errorf("the search ended with %d: %+v", code, r.Verdict)
			}
			if c.kept > 0 && (r.Latency.P99 != 10 || !strings.Contains(r.About, "or more")) {
				t.Errorf("the result is not of the highest rate: %+v", r)
			}
		})
	}
	// A search that cannot begin returns no result.
	if _, err := findMax(&Config{Publishing: Publishing{Rate: 1}}, 3, func(*Config) (*report.Result, error) { return nil, errors.New("no server") }); err == nil {
		t.Error("a search without any run has a result")
	}
}
