//go:build linux

package tokens

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
)

// harm starts to inject the planned faults during the load. The returned function waits for the
// last fault, and returns the error of a fault.
func (r *run) harm(ctx context.Context, from time.Duration) func() error {
	if len(r.cfg.Faults) == 0 {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() { done <- r.inflict(ctx, from) }()
	return func() error { return <-done }
}

// inflict injects the planned faults. It skips faults in the last second of the measured time.
func (r *run) inflict(ctx context.Context, from time.Duration) error {
	var problems []error
	for _, planned := range r.cfg.Faults {
		if planned.At > r.cfg.Duration-time.Second {
			break
		}
		if !pacing.Sleep(ctx, from+planned.At-r.clock.Now()) {
			break
		}
		f := r.inflictor.Choose(planned.Fault)
		began := r.clock.Now()
		r.timeline.Fault(f.String())
		// An interrupted run also repairs its servers.
		if err := r.inflictor.Do(context.WithoutCancel(ctx), f); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", f, err))
			break
		}
		lasted := latency.Milliseconds(r.clock.Now() - began)
		out := report.Restart{Fault: string(f.Kind), What: f.String(), At: (began - from).Seconds(), Lasted: lasted, Ready: lasted, Resumed: lasted, AllResumed: true}
		for _, n := range r.inflictor.Harmed(f) {
			out.Nodes = append(out.Nodes, r.target.Nodes()[n].Name)
		}
		r.result.Restarts = append(r.result.Restarts, out)
	}
	return errors.Join(problems...)
}
