package ai

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"atelier/transport/ai/upstream"
)

// Stats contains the current number of answers, and counters since the start, for metrics.
type Stats struct {
	// Active is the number of answers in progress.
	Active int64
	// Outcomes counts ended answers by outcome.
	Outcomes map[string]int64
	// PromptTokens and OutputTokens are the sums of the upstream's token counts.
	PromptTokens, OutputTokens int64
	// Seconds is the total duration of all ended answers.
	Seconds float64
}

type counters struct {
	active, prompt, output, nanos atomic.Int64

	mu       sync.Mutex // guards outcomes
	outcomes map[string]int64
}

func (c *counters) begun() { c.active.Add(1) }

func (c *counters) ended(outcome string, u *upstream.Usage, took time.Duration) {
	c.active.Add(-1)
	c.prompt.Add(u.Prompt)
	c.output.Add(u.Output)
	c.nanos.Add(int64(took))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outcomes == nil {
		c.outcomes = map[string]int64{}
	}
	c.outcomes[outcome]++
}

// Stats returns the current counters.
func (s *Service) Stats() Stats {
	c := &s.stats
	out := Stats{
		Active: c.active.Load(), PromptTokens: c.prompt.Load(), OutputTokens: c.output.Load(),
		Seconds: time.Duration(c.nanos.Load()).Seconds(), Outcomes: map[string]int64{},
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, n := range c.outcomes {
		out.Outcomes[k] = n
	}
	return out
}

// outcome returns the outcome of an answer as one of a fixed list of names.
func (a *answer) outcome(ctx context.Context, err error) string {
	var f *upstream.Failure
	switch cause := context.Cause(ctx); {
	case err == nil && a.blocked:
		return "blocked"
	case err == nil:
		return "ok"
	case errors.Is(cause, errStopping):
		return "stopping"
	case errors.Is(cause, errEnded):
		return "removed"
	case errors.Is(cause, errLeft):
		return "client_left"
	case errors.As(err, &f):
		return f.Cause
	}
	return "internal"
}
