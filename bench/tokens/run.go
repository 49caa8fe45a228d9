//go:build linux

package tokens

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"atelier/bench/api"
	"atelier/bench/faults"
	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
)

// run is one load test. Only the goroutine of Run changes it, except that inflict adds the injected
// faults to the result.
type run struct {
	cfg     *Config
	target  *server.Target
	clock   pacing.Clock
	clients *api.Spread
	session api.Session
	path    string // path of the server's URL, before /handler
	parties []party
	result  *report.Result
	// made is the number of pairs until now, and the number of the next pair. Each pair has its own
	// number, so no card is used twice.
	made int64
	// marker makes the idempotency keys of this run unique.
	marker    string
	inflictor faults.Inflictor
	timeline  *timeline.Timeline
}

// Run runs the load test. If ctx ends during the load, the load ends early, and Run reports the
// results up to then. An error means that there are no results.
func (c *Config) Run(ctx context.Context, target *server.Target) (*report.Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := &run{cfg: c, target: target, clock: pacing.NewClock(), result: newResult(c), marker: cryptorand.Text()}
	r.timeline = timeline.New(r.clock.Now)
	var err error
	r.inflictor = faults.Inflictor{Target: target, Pause: c.Pause, Cut: c.Cut, Rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))}
	if err := r.inflictor.Check(c.Faults); err != nil {
		return nil, err
	}
	if r.clients, err = target.Clients(); err != nil {
		return nil, err
	}
	defer r.clients.Close()
	client := r.clients.Node(0)
	r.path = client.Path()
	if r.session, err = client.Login(target.AdminID, target.AdminPW, "Load test"); err != nil {
		return nil, err
	}
	if err := r.onboard(); err != nil {
		return nil, err
	}
	defer target.Watch(ctx, r.timeline.See)()
	if c.Live > 0 {
		if err := r.crowd(ctx); err != nil {
			return nil, err
		}
	}
	if c.Duration > 0 && ctx.Err() == nil {
		if err := r.load(ctx); err != nil {
			return nil, err
		}
	}
	r.result.Interrupted = ctx.Err() != nil
	r.timeline.Put(r.result)
	return r.result, nil
}

// contested reports whether two callers use the pair's token. Contested pairs are evenly
// distributed.
func (r *run) contested(pair int64) bool {
	share := r.cfg.Reuse / 100
	return int64(float64(pair+1)*share) > int64(float64(pair)*share)
}

// load runs the pairs.
func (r *run) load(ctx context.Context) error {
	r.show("load")
	s := &pacing.Schedule{Rate: r.cfg.Rate, Start: r.clock.Now() + 50*time.Millisecond}
	measuredFrom := s.Start + r.cfg.Warmup
	s.Until = measuredFrom + r.cfg.Duration
	r.timeline.Begin(s.Start)
	base := r.made
	weigh := r.timeline.Weigh(measuredFrom, r.target)
	workers := make([]*worker, r.cfg.Connections)
	var wg sync.WaitGroup
	for i := range workers {
		w := newWorker(r, i)
		workers[i] = w
		wg.Go(func() {
			defer w.conn.Close()
			defer w.rival.Close()
			for ctx.Err() == nil {
				pair, due, ok := s.Take(r.clock.Now())
				if !ok {
					return
				}
				if wait := due - r.clock.Now(); wait > 0 {
					time.Sleep(wait)
					w.late(due, measuredFrom)
				}
				w.do(base+pair, due, due >= measuredFrom)
			}
		})
	}
	harmed := r.harm(ctx, measuredFrom)
	wg.Wait()
	if err := harmed(); err != nil {
		return err
	}
	begin, end := weigh()
	r.made = base + s.Taken()
	r.conclude(workers, begin, end)
	return nil
}

// crowd creates the live tokens and measures the server with them. It restarts the server if the
// run has started it, and measures the server while the tokens expire.
func (r *run) crowd(ctx context.Context) error {
	c := &crowd{tokens: r.cfg.Live}
	r.timeline.Enter("live tokens")
	defer c.figures(r.result)
	before := r.weigh()
	ends := time.Now().Add(r.cfg.liveUntil())
	if err := r.mintAll(ctx, ends); err != nil {
		return err
	}
	after := r.weigh()
	c.mintedPerSecond = float64(r.cfg.Live) / (after.At - before.At).Seconds()
	if err := r.policy("single_use", 0); err != nil {
		return err
	}
	pacing.Sleep(ctx, 5*time.Second)
	u := r.weigh().Server
	c.rss, c.peakRSS = u.RSS, u.PeakRSS
	if r.target.Process != nil {
		if err := r.restart(ctx, c); err != nil {
			return err
		}
	}
	return r.expiry(ctx, c, ends)
}

// mintAll creates the live tokens so that all of them expire in the minute after ends.
func (r *run) mintAll(ctx context.Context, ends time.Time) error {
	var next atomic.Int64
	var failed atomic.Int64
	for next.Load() < int64(r.cfg.Live) && ctx.Err() == nil {
		// The lifetime is set once per slice, so that the expiry times differ by at most one slice.
		const slice = 20 * time.Second
		life := time.Until(ends)
		if life < time.Minute {
			return errors.New("the creation of the live tokens took longer than their lifetime; use a longer --live-for")
		}
		if err := r.policy("ttl", int(min(life, maxLife)/time.Second)); err != nil {
			return err
		}
		until := time.Now().Add(slice)
		var wg sync.WaitGroup
		for i := range r.cfg.Connections {
			w := newWorker(r, i)
			wg.Go(func() {
				defer w.conn.Close()
				for ctx.Err() == nil && time.Now().Before(until) {
					pair := next.Add(1) - 1
					if pair >= int64(r.cfg.Live) {
						return
					}
					if _, ok := w.mint(pair); !ok {
						failed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		r.show(fmt.Sprintf("creating live tokens: %d of %d", min(next.Load(), int64(r.cfg.Live)), r.cfg.Live))
	}
	r.made = int64(r.cfg.Live)
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%d live tokens could not be created", n)
	}
	return ctx.Err()
}

// restart kills the server and starts it again. It measures the time until a pair has completed,
// and the server's memory 10 s later.
func (r *run) restart(ctx context.Context, c *crowd) error {
	r.show("restarting")
	r.target.Process.Kill()
	began := r.clock.Now()
	if err := r.target.Process.Start(ctx); err != nil {
		return err
	}
	w := newWorker(r, 0)
	defer w.conn.Close()
	for r.contested(r.made) { // such a pair is not counted as done
		r.made++
	}
	w.do(r.made, r.clock.Now(), false)
	r.made++
	if w.pair.Done != 1 {
		return fmt.Errorf("after the restart a pair failed: %s%s", w.tokenize.Complaint, w.detokenize.Complaint)
	}
	c.restarted = latency.Milliseconds(r.clock.Now() - began)
	pacing.Sleep(ctx, 10*time.Second)
	u := r.weigh().Server
	c.restartedRSS = u.RSS
	return nil
}

// expiry measures the server in the minute in which the tokens expire, and before it in a quiet
// time of at most a minute.
func (r *run) expiry(ctx context.Context, c *crowd, ends time.Time) error {
	const window = time.Minute
	if quiet := time.Until(ends) - window - 10*time.Second; quiet > window {
		r.show("waiting for the tokens to expire")
		pacing.Sleep(ctx, quiet)
	}
	watch := func(d time.Duration) (cores float64, goroutines int) {
		begin := r.weigh()
		end := time.Now().Add(d)
		for time.Now().Before(end) && ctx.Err() == nil {
			pacing.Sleep(ctx, 500*time.Millisecond)
			if r.target.Inside != nil {
				if in, err := r.target.Inside(); err == nil {
					goroutines = max(goroutines, int(in.Goroutines))
				}
			}
		}
		after := r.weigh()
		return (after.Server.CPU - begin.Server.CPU).Seconds() / (after.At - begin.At).Seconds(), goroutines
	}
	idle := min(window, time.Until(ends)-15*time.Second)
	if idle <= 0 {
		return errors.New("the live tokens expired before the server could be measured with them; use a longer --live-for")
	}
	r.show("measuring a quiet minute")
	c.idleCores, c.idleGoroutines = watch(idle)
	r.show("measuring while the tokens expire")
	pacing.Sleep(ctx, time.Until(ends)-15*time.Second)
	c.expiryCores, c.expiryGoroutines = watch(window)
	return nil
}

func (r *run) show(line string) {
	if r.cfg.Progress != nil {
		r.cfg.Progress(line)
	}
}

func (r *run) weigh() timeline.Weight { return timeline.Weigh(r.clock.Now(), r.target) }
