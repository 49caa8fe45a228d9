//go:build linux

package fanout

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"atelier/bench/broadcast"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
	"atelier/bench/workers"
)

// run is one load test. Only the goroutine of Run uses it.
type run struct {
	cfg      *Config
	workers  *workers.Group
	endpoint *Endpoint
	result   *report.Result
	timeline *watcher
	// key is the key of the stamps.
	key uint64

	// Times on the run's timeline.
	start, from, until time.Duration
	empty              server.Usage    // the server without clients
	begin, end         timeline.Weight // of the measured time
}

// Run runs the load test. If ctx ends, the load ends early, and the results until then are audited
// and reported. An error means that there are no results.
func (c *Config) Run(ctx context.Context) (*report.Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if all, generators := c.Subscribers+c.Publishers, c.Plan.Size(); all > generators*maxPerWorker {
		return nil, fmt.Errorf("%d connections are too many for %d workers", all, generators)
	}
	if c.Meter != nil {
		defer c.Meter.Open(0)
	}
	r := &run{cfg: c, timeline: newWatcher(c), result: newResult(c), key: rand.Uint64()}
	r.timeline.enter("preparing")
	pacing.Sleep(ctx, c.Rest)
	r.empty = timeline.Weigh(0, c.Target).Server
	var err error
	if r.endpoint, err = c.Prepare(ctx, c.Subscribers, c.Publishers); err != nil {
		return nil, err
	}
	if r.workers, err = workers.Gather(&c.Plan, r.timeline.add); err != nil {
		return nil, err
	}
	defer r.workers.Close()
	r.timeline.begin(r.workers.Now)
	defer c.Target.Watch(ctx, r.timeline.See)()
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

// each sends every worker the same order.
func (r *run) each(o *workers.Order) ([]*workers.Report, error) {
	return r.workers.All(func(int) *workers.Order { return o })
}

// job returns the job of a worker.
func (r *run) job(worker int) *broadcast.Job {
	workers := r.workers.Size()
	first, count := share(len(r.endpoint.Subscribers), workers, worker)
	firstPublisher, publishers := share(len(r.endpoint.Publishers), workers, worker)
	_, stalled := share(r.cfg.Stalled, workers, worker)
	return &broadcast.Job{
		Address: r.endpoint.Address, Host: r.endpoint.Host, More: r.endpoint.More, TLS: r.endpoint.TLS, Stream: r.endpoint.Stream, Dialect: r.endpoint.Dialect, Secrets: r.endpoint.Secrets,
		Subscribers: r.endpoint.Subscribers[first : first+count], Publishers: r.endpoint.Publishers[firstPublisher : firstPublisher+publishers],
		First: first + firstPublisher, FirstPublisher: firstPublisher, AllPublishers: len(r.endpoint.Publishers),
		Seed: r.cfg.Seed, Key: r.key, Stalled: stalled, ReceiveBuffer: stalledBuffer,
	}
}

// stalledBuffer is the size of the kernel's receive buffer, in bytes, of a client that stops
// reading. It is small, so that the server notices soon.
const stalledBuffer = 16 << 10

// connect opens all connections. It waits until all clients are ready, at most for Connect plus
// Drain. It returns an error if no client is ready then, or earlier if the server has permanently
// refused the first attempts.
func (r *run) connect(ctx context.Context) error {
	r.timeline.enter("connecting")
	if _, err := r.workers.All(func(worker int) *workers.Order { return &workers.Order{Job: r.job(worker)} }); err != nil {
		return err
	}
	if _, err := r.each(&workers.Order{Connect: &r.cfg.Connect}); err != nil {
		return err
	}
	end := r.workers.Now() + r.cfg.Connect + r.cfg.Drain
	for ctx.Err() == nil {
		m, err := r.muster()
		if err != nil {
			return err
		}
		if m.Ready == m.All {
			break
		}
		if m.Ready == 0 && m.Denied >= min(m.All, enoughDenied) {
			return r.nobody(m) // the refusals are permanent
		}
		if r.workers.Now() >= end {
			if m.Ready == 0 {
				return r.nobody(m)
			}
			break
		}
		r.sleep(ctx, 50*time.Millisecond)
	}
	r.sleep(ctx, r.cfg.Settle)
	return nil
}

// enoughDenied is the number of refusals, without any success, after which no more attempts are
// made.
const enoughDenied = 10

// muster combines the workers' counts of clients that are ready, refused or without an answer.
func (r *run) muster() (*broadcast.Muster, error) {
	reports, err := r.each(&workers.Order{Ready: true})
	if err != nil {
		return nil, err
	}
	all := &broadcast.Muster{Ends: map[string]int{}}
	for _, w := range reports {
		if w.Muster == nil {
			continue
		}
		all.Ready += w.Muster.Ready
		all.All += w.Muster.All
		all.Denied += w.Muster.Denied
		all.Unanswered += w.Muster.Unanswered
		for how, n := range w.Muster.Ends {
			all.Ends[how] += n
		}
		all.Strange = cmp.Or(all.Strange, w.Muster.Strange)
	}
	return all, nil
}

// nobody returns an error that explains why no client could connect.
func (r *run) nobody(m *broadcast.Muster) error {
	often := ""
	for _, how := range slices.Sorted(maps.Keys(m.Ends)) {
		if m.Ends[how] > m.Ends[often] {
			often = how
		}
	}
	var why []string
	if often != "" {
		why = append(why, fmt.Sprintf("%s, %d times", often, m.Ends[often]))
	}
	if m.Strange != "" {
		why = append(why, unmatched("--ready", r.endpoint.Dialect.Ready, "last", m.Strange))
	}
	switch {
	case why == nil && m.Unanswered > 0:
		why = append(why, fmt.Sprintf("the server accepts connections and does not respond: %d of %d wait for an answer to their opening request", m.Unanswered, m.All))
	case why == nil:
		why = append(why, "the server does not send the expected first message")
	}
	return fmt.Errorf("nobody could connect: %s", strings.Join(why, "; "))
}

// unmatched describes a pattern without a match, with the first or last received text.
func unmatched(flag, pattern, when, came string) string {
	text := fmt.Sprintf("no received text matches %s %s", flag, pattern)
	if came != "" {
		text += "; the " + when + " was \"" + came + "\""
	}
	return text
}

// load runs the load and waits for its end.
func (r *run) load(ctx context.Context) error {
	// The orders need a moment to reach all workers.
	r.start = r.workers.Now() + 250*time.Millisecond
	r.from = r.start + r.cfg.Warmup
	r.until = r.from + r.cfg.Duration
	r.timeline.plan(r.start, r.until)
	if len(r.endpoint.Publishers) > 0 {
		l := &broadcast.Load{Start: r.start, From: r.from, Until: r.until, Stages: r.stages(), Regular: r.cfg.Regular, Window: r.cfg.Window, Parts: r.parts(), Beside: r.cfg.StepEvery}
		if _, err := r.each(&workers.Order{Load: l}); err != nil {
			return err
		}
	}
	if err := r.drops(); err != nil {
		return err
	}
	r.timeline.enter("warm-up")
	r.sleepUntil(ctx, r.from)
	r.timeline.enter("load")
	r.begin = timeline.Weigh(r.from, r.cfg.Target)
	besides := r.beside(ctx)
	r.sleepUntil(ctx, r.until)
	besides()
	if ctx.Err() != nil {
		r.result.Interrupted = true
		if r.until = min(r.until, r.workers.Now()); r.until < r.from {
			r.until = r.from
		}
		if _, err := r.each(&workers.Order{Stop: true}); err != nil {
			return err
		}
	}
	r.end = timeline.Weigh(r.until, r.cfg.Target)
	return nil
}

// beside starts the function that runs during the load. The returned function stops it and waits.
func (r *run) beside(ctx context.Context) func() {
	if r.cfg.Beside == nil {
		return func() {}
	}
	return pacing.Beside(ctx, r.cfg.Beside)
}

// stages returns the stages of the configuration. The first one includes the warm-up before it, and
// the last one lasts until the end.
func (r *run) stages() []broadcast.Stage {
	stages := slices.Clone(r.cfg.rates())
	stages[0].During += r.cfg.Warmup
	rest := r.cfg.Warmup + r.cfg.Duration
	for i := range stages {
		if i == len(stages)-1 {
			stages[i].During = rest
		}
		rest = max(rest-stages[i].During, 0)
	}
	return stages
}

// parts divides the measured time. If some subscribers stop reading, normal and stalled parts
// alternate, so both have the same conditions. Otherwise each of several stages is a part.
func (r *run) parts() []broadcast.Part {
	var parts []broadcast.Part
	switch {
	case r.cfg.Stalled > 0:
		for at := r.from; at+r.cfg.Part <= r.until; at += r.cfg.Part {
			kind := len(parts) % 2
			parts = append(parts, broadcast.Part{From: at, Until: at + r.cfg.Part, Kind: kind, Stalled: kind == 1})
		}
	case len(r.cfg.Stages) > 1:
		at := r.start
		for i, s := range r.stages() {
			parts = append(parts, broadcast.Part{From: max(at, r.from), Until: at + s.During, Kind: i})
			at += s.During
		}
	}
	return parts
}

// partNames describes the kinds of parts.
func (r *run) partNames() []string {
	if r.cfg.Stalled > 0 {
		return []string{"all read", "some stalled"}
	}
	var names []string
	for _, s := range r.cfg.rates() {
		names = append(names, fmt.Sprintf("%g/s", s.Rate))
	}
	return names
}

// drops plans the repeated closing of all subscribers' connections. After the last closing there is
// still time to reconnect.
func (r *run) drops() error {
	if r.cfg.DropEvery == 0 {
		return nil
	}
	for at := r.from + r.cfg.DropEvery; at+r.cfg.Spread < r.until; at += r.cfg.DropEvery {
		if _, err := r.each(&workers.Order{Drop: &broadcast.Drop{At: at, Spread: r.cfg.Spread}}); err != nil {
			return err
		}
		r.result.Figures = append(r.result.Figures[:0], report.Figure{Key: "drops", Name: "all connections lost", Value: float64((at - r.from) / r.cfg.DropEvery), Unit: "times"})
	}
	return nil
}

// finish waits until everything has arrived and creates the report.
func (r *run) finish(ctx context.Context) (*report.Result, error) {
	r.timeline.enter("draining")
	f := &broadcast.Finish{Sent: make([]int64, len(r.endpoint.Publishers)), Refused: map[int][]int64{}}
	if len(f.Sent) > 0 {
		reports, err := r.each(&workers.Order{Sent: true})
		if err != nil {
			return nil, err
		}
		for _, w := range reports {
			for p, n := range w.Sent.Messages {
				f.Sent[p] = n
			}
			for p, list := range w.Sent.Refused {
				f.Refused[p] = list
			}
		}
	}
	bound := r.cfg.Drain
	if r.result.Interrupted {
		bound = min(bound, 5*time.Second)
	}
	f.Until = r.workers.Now() + bound
	reports, err := r.each(&workers.Order{Finish: f})
	if err != nil {
		return nil, err
	}
	outcomes := make([]*broadcast.Outcome, len(reports))
	for i, w := range reports {
		if w.Outcome == nil {
			return nil, fmt.Errorf("worker %d returned no results", i+1)
		}
		outcomes[i] = w.Outcome
	}
	r.conclude(outcomes)
	return r.result, nil
}

func (r *run) sleepUntil(ctx context.Context, at time.Duration) { r.sleep(ctx, at-r.workers.Now()) }

func (r *run) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-r.workers.Gone():
		// The next order names the failed worker.
	case <-timer.C:
	}
}
