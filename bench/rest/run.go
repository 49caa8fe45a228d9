//go:build linux

package rest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
)

// run is one load test. Only the goroutine of Run changes it, except for fates.
type run struct {
	cfg      *Config
	target   *server.Target
	clock    pacing.Clock
	clients  *api.Spread
	admin    api.Session
	lab      *api.Codelab
	people   []api.Person
	timeline *timeline.Timeline
	marker   string

	// Requests planned between from and until are measured.
	start, from, until time.Duration
	workers            []*worker
	reads, writes      *pacing.Schedule

	mu    sync.Mutex
	fates []audit.Fate // of the chat messages, by number; guarded by mu
}

// Run runs the load test. If ctx ends, the load ends early, and Run reports the results up to then.
// An error means that there are no results.
func (c *Config) Run(ctx context.Context, target *server.Target) (*report.Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.fill()
	c.Seed = cmp.Or(c.Seed, uint64(rand.Uint32()))
	r := &run{cfg: c, target: target, clock: pacing.NewClock(), marker: fmt.Sprintf("rest %x ", c.Seed)}
	r.timeline = timeline.New(r.clock.Now)
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	defer r.clients.Close()
	defer target.Watch(ctx, r.timeline.See)()
	r.plan()
	defer r.show()()
	begin, end := r.load(ctx, r.worker, (*worker).read)
	r.timeline.Enter(timeline.ReadingBack)
	found, err := r.readBack(r.clients.Node(0))
	out := r.conclude(begin, end, found, ctx.Err() != nil)
	for n := 1; n < r.clients.Size() && err == nil; n++ {
		var more []int
		if more, err = r.readBack(r.clients.Node(n)); err == nil && !slices.Equal(found, more) {
			out.Faults = append(out.Faults, fmt.Sprintf("node %s returns a different chat history than the first node", r.target.Nodes()[n].Name))
		}
	}
	if err != nil {
		// For example, the server has ended. The measurements up to then are still reported.
		out.Faults = append(out.Faults, fmt.Sprintf("the acknowledged writes could not be read back: %v", err))
	}
	return out, nil
}

// prepare creates a codelab with its attendees.
func (r *run) prepare(ctx context.Context) error {
	r.timeline.Enter(timeline.Preparing)
	var err error
	if r.clients, err = r.target.Clients(); err != nil {
		return err
	}
	client := r.clients.Node(0)
	if r.admin, err = client.Login(r.target.AdminID, r.target.AdminPW, "Load test"); err != nil {
		return err
	}
	steps := make([][2]string, 8)
	for i := range steps {
		steps[i] = [2]string{fmt.Sprintf("Step %d", i+1), fmt.Sprintf("## Step %d\n\n%s", i+1, paragraph)}
	}
	if r.lab, err = client.Create(r.admin, "REST under load", steps); err != nil {
		return err
	}
	r.people, err = api.RegisterAll(ctx, client, r.lab.ID, r.cfg.Attendees)
	return err
}

// plan schedules the requests. The progress display reads the schedules.
func (r *run) plan() {
	cfg := r.cfg
	// With --reads or --writes, the load is a number of requests. It begins immediately, and all
	// requests are measured.
	r.start = r.clock.Now()
	r.from, r.until = r.start, r.start+24*time.Hour
	if cfg.Reads+cfg.Writes == 0 {
		r.start += 50 * time.Millisecond
		r.from = r.start + cfg.Warmup
		r.until = r.from + cfg.Duration
	}
	r.reads, r.writes = r.schedule(cfg.reading()), r.schedule(cfg.writing())
	r.timeline.Begin(r.start)
}

// load sends the requests. It returns the server's usage at the beginning of the measured time and
// at the end of the load. open makes the worker of a connection, and read makes a request of a
// reading worker.
func (r *run) load(ctx context.Context, open func(i int) *worker, read request) (begin, end timeline.Weight) {
	weigh := r.timeline.Weigh(r.from, r.target)
	var working sync.WaitGroup
	start := func(connections int, s *pacing.Schedule, count int, do request) {
		for i := range connections {
			w := open(i)
			r.workers = append(r.workers, w)
			working.Go(func() { w.work(ctx, s, count, do) })
		}
	}
	start(r.cfg.ReadConnections, r.reads, r.cfg.Reads, read)
	start(r.cfg.WriteConnections, r.writes, r.cfg.Writes, (*worker).write)
	working.Wait()
	return weigh()
}

func (r *run) schedule(s side) *pacing.Schedule {
	out := &pacing.Schedule{Start: r.start, Until: r.until}
	if s.count == 0 {
		out.Rate = s.rate
	}
	return out
}

// show reports the progress until the returned function is called.
func (r *run) show() func() {
	if r.cfg.Progress == nil {
		return func() {}
	}
	return pacing.Every(context.Background(), time.Second, func() {
		now := r.clock.Now()
		s := r.timeline.Second(int64(now/time.Second) - 1)
		r.cfg.Progress(r.timeline.Phase(), now, r.done(now), s.Deliveries, s.P99)
	})
}

// done returns the completed fraction of the load, 0 to 1.
func (r *run) done(now time.Duration) float64 {
	count := r.cfg.Reads + r.cfg.Writes
	switch {
	case count > 0:
		return min(float64(r.reads.Taken()+r.writes.Taken())/float64(count), 1)
	}
	return min(max(float64(now-r.start)/float64(r.until-r.start), 0), 1)
}

// readBack counts how often each chat message is in the history. The result is nil if the history
// cannot be read.
func (r *run) readBack(client *api.Client) ([]int, error) {
	found := make([]int, len(r.fates))
	err := client.History(r.admin, r.lab.ID, func(m api.ChatMessage) {
		var n int
		if _, err := fmt.Sscanf(m.Message, r.marker+"%d", &n); err == nil && n >= 0 && n < len(found) {
			found[n]++
		}
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
