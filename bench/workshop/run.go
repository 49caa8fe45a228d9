//go:build linux

package workshop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/api"
	"atelier/bench/faults"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/sockets"
	"atelier/bench/timeline"
)

// run is one workshop. Only the goroutine of Run changes it.
type run struct {
	cfg       *Config
	target    *server.Target
	clock     pacing.Clock
	clients   *api.Spread
	admin     api.Session
	crowd     *crowd
	loop      *sockets.Loop
	result    *report.Result
	inflictor faults.Inflictor
}

// Run runs the workshop. If ctx ends, the load ends early, and Run audits and reports the results
// until then. An error means that there are no results.
func (c *Config) Run(ctx context.Context, target *server.Target) (*report.Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.DrawSeed()
	r := &run{cfg: c, target: target, clock: pacing.NewClock(), result: newResult(c)}
	r.inflictor = faults.Inflictor{Target: target, Pause: c.Pause, Cut: c.Cut, Upgrade: c.Upgrade, Rng: rand.New(rand.NewPCG(c.Seed, 2))}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	defer r.clients.Close()
	go r.loop.Run()
	defer r.crowd.requests.Wait()
	defer r.loop.Stop()
	stopShowing := r.show()
	defer stopShowing()
	defer r.target.Watch(ctx, r.crowd.timeline.See)()
	defer r.count()()

	r.join(ctx)
	if ctx.Err() == nil {
		if err := r.load(ctx); err != nil {
			return nil, err
		}
	}
	r.result.Interrupted = ctx.Err() != nil
	r.drain(context.WithoutCancel(ctx))

	// From here on this goroutine owns everything.
	r.loop.Stop()
	r.crowd.requests.Wait()
	r.crowd.timeline.Enter(timeline.ReadingBack)
	truth, err := r.readBackAll()
	if err != nil {
		// For example, the server has ended. The measurements up to then are still reported.
		r.result.Faults = append(r.result.Faults, fmt.Sprintf("the acknowledged writes could not be read back: %v", err))
	}
	r.conclude(truth)
	return r.result, nil
}

// prepare logs in, finds the codelab, and creates the crowd and its loop.
func (r *run) prepare() error {
	var err error
	if err := r.inflictor.Check(r.cfg.Faults); err != nil {
		return err
	}
	if r.clients, err = r.target.Clients(); err != nil {
		return err
	}
	var names []string
	var addresses []unix.Sockaddr
	for i, n := range r.target.Nodes() {
		address, err := sockets.Resolve(r.clients.Node(i).Address())
		if err != nil {
			return err
		}
		names, addresses = append(names, n.Name), append(addresses, address)
	}
	client := r.clients.Node(0)
	if r.admin, err = client.Login(r.target.AdminID, r.target.AdminPW, "Load test"); err != nil {
		return err
	}
	lab, err := prepare(client, r.admin, r.cfg)
	if err != nil {
		return err
	}
	r.crowd = newCrowd(r.cfg, r.clock, r.clients, lab, addresses)
	r.crowd.names, r.crowd.byNode = names, make([]int64, len(names))
	for i := range r.cfg.Facilitators {
		f := r.crowd.facilitator(i)
		if f.login, err = client.Login(r.target.AdminID, r.target.AdminPW, f.name); err != nil {
			return err
		}
	}
	if r.loop, err = sockets.New(r.clock, r.cfg.Seed, r.crowd); err != nil {
		return fmt.Errorf("start socket loop: %w", err)
	}
	r.crowd.loop = r.loop
	return nil
}

// join lets everybody register and connect. The facilitators are first, because they must receive
// all events. join waits for them at most for Config.Drain, and for everybody at most for
// Config.Join plus Config.Drain.
func (r *run) join(ctx context.Context) {
	r.crowd.timeline.Enter(timeline.Connecting)
	c := r.crowd
	r.loop.Do(func() {
		for _, f := range c.people[r.cfg.Attendees:] {
			c.connect(f)
		}
	})
	r.until(ctx, r.cfg.Drain, func() bool {
		return c.count(func(p *person) bool { return p.facilitator && p.joined() }) == r.cfg.Facilitators
	})
	r.loop.Do(c.storm)
	r.until(ctx, r.cfg.Join+r.cfg.Drain, func() bool { return c.count((*person).joined) == len(c.people) })
}

// load runs the load, and injects the planned faults.
func (r *run) load(ctx context.Context) error {
	r.crowd.timeline.Enter(timeline.WarmUp)
	c := r.crowd
	r.loop.Do(func() {
		c.sleep()
		c.load(r.clock.Now())
		c.timeline.Begin(c.from - r.cfg.Warmup)
	})
	pacing.Sleep(ctx, c.from-r.clock.Now())
	r.crowd.timeline.Enter(timeline.Load)
	begin := r.weigh()
	defer r.beside(ctx)()
	err := r.faults(ctx)
	pacing.Sleep(ctx, c.until-r.clock.Now())
	r.loop.Do(func() {
		c.over = true
		c.until = min(c.until, r.clock.Now())
	})
	r.account(begin, r.weigh())
	return err
}

// beside starts the function that runs during the load. The returned function ends it and waits.
func (r *run) beside(ctx context.Context) func() {
	if r.cfg.Beside == nil {
		return func() {}
	}
	c := r.crowd
	live := &Live{Began: time.Now().Add(c.from - r.clock.Now()), Codelab: c.lab.ID, Facilitator: c.facilitator(0).login}
	r.loop.Do(func() {
		for _, p := range c.attendees() {
			if p.joined() && !p.stalled {
				live.People = append(live.People, api.Person{ID: p.id, Session: p.login})
			}
		}
	})
	return pacing.Beside(ctx, func(ctx context.Context) { r.cfg.Beside(ctx, live) })
}

// drain waits for messages in flight, sends a last message, and waits until it has reached
// everybody. Then it resumes the clients that stopped reading.
func (r *run) drain(ctx context.Context) {
	r.crowd.timeline.Enter(timeline.Draining)
	c := r.crowd
	bound := r.cfg.Drain
	if r.result.Interrupted {
		bound = min(bound, 5*time.Second)
	}
	r.until(ctx, bound, func() bool { return c.outstanding() == 0 })
	r.loop.Do(func() { c.chat.last = c.sendChat(c.facilitator(0), r.clock.Now()) })
	r.until(ctx, bound, func() bool {
		return c.count(func(p *person) bool { return p.joined() && !p.stalled && !p.finished }) == 0
	})
	r.loop.Do(c.wake)
	r.until(ctx, bound, func() bool {
		return c.count(func(p *person) bool {
			return p.joined() && p.stalled && !p.finished && p.subscriber.Resyncs == 0
		}) == 0
	})
	r.loop.Do(func() { c.closing = true })
}

// until waits until a condition is true. The condition is evaluated on the loop. until returns
// false after the time bound, or when ctx ends.
func (r *run) until(ctx context.Context, bound time.Duration, holds func() bool) bool {
	end := r.clock.Now() + bound
	for {
		yes := false
		r.loop.Do(func() { yes = holds() })
		if yes {
			return true
		}
		if !pacing.Sleep(ctx, 20*time.Millisecond) || r.clock.Now() > end {
			return false
		}
	}
}

// count records the number of connected people every second, until the returned function is called.
func (r *run) count() func() {
	return pacing.Every(context.Background(), time.Second, func() {
		online, known := 0, false
		r.loop.Do(func() { online, known = r.crowd.count(func(p *person) bool { return p.online }), true })
		if known {
			r.crowd.timeline.Online(online)
		}
	})
}

// show reports the progress every second, until the returned function is called.
func (r *run) show() func() {
	if r.cfg.Progress == nil {
		return func() {}
	}
	return pacing.Every(context.Background(), time.Second, func() {
		var s Snapshot
		r.loop.Do(func() { s = r.crowd.snapshot(r.crowd.timeline.Phase()) })
		if s.People > 0 {
			r.cfg.Progress(s)
		}
	})
}
