//go:build linux

package broadcast

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/server"
	"atelier/bench/sockets"
)

// Engine is a running worker. Its methods are not safe for concurrent use.
type Engine struct {
	job      *Job
	clock    pacing.Clock
	offset   time.Duration // the run's timeline minus the clock
	loop     *sockets.Loop
	nodes    []node
	passages []*server.Tunnel // to nodes that speak TLS
	emit     func(Sample)
	posts    *poster // for event streams; otherwise nil
	// publishers are the scripts of this worker's publishers.
	publishers []*script
	mask       mask

	// The following fields are owned by the loop.
	reader  *reader
	rng     *rand.Rand
	clients []*client // subscribers, then publishers
	load    *Load
	over    bool // sending has ended
	// closing means that another goroutine owns the outcome: nothing more is recorded.
	closing bool
	ready   int // number of ready subscribers
	out     Outcome
	// current is the sample in progress.
	current Sample
	seconds *latency.Histogram // of its deliveries
	spoiled int                // messages in spoiled of all clients
	// strange and strangeAnswer mean that those of out were sent to a ready client.
	strange, strangeAnswer bool
	// flights contains all messages in flight, by publisher.
	flights [][]flight
	windows []window // of the publishers here
	sent    map[int]int64
	refused map[int][]int64
	// denied counts the permanent refusals of connections.
	denied  int
	planned map[uint64]time.Duration // of unacknowledged messages, by number
	began   reading
}

// reading is the resource usage of the process and its loop up to a moment.
type reading struct{ cpu, busy time.Duration }

// flight is a message in flight, as seen by this worker.
type flight struct {
	// last is the time to the latest reader so far, in microseconds plus 1; 0 if it is not measured
	// or has not arrived.
	last uint32
	// readers is the number of readers who have it.
	readers int32
}

// mostFlights bounds the state for determining when the last reader received a message: 64 MB. In
// longer runs only the first messages count.
const mostFlights = 8 << 20

// NewEngine prepares a worker. The run's timeline is the clock plus offset. Emit is called every
// second from the loop and must not block.
func NewEngine(job *Job, clock pacing.Clock, offset time.Duration, emit func(Sample)) (*Engine, error) {
	if err := enoughFiles(job); err != nil {
		return nil, err
	}
	r, err := newReader(&job.Dialect, sealer(job.Key), max(job.AllPublishers, 1))
	if err != nil {
		return nil, err
	}
	e := &Engine{
		job: job, clock: clock, offset: offset, emit: emit, reader: r,
		rng: rand.New(rand.NewPCG(job.Seed, uint64(job.First)+1)), seconds: latency.New(),
		sent: map[int]int64{}, refused: map[int][]int64{}, planned: map[uint64]time.Duration{},
		flights: make([][]flight, job.AllPublishers), windows: make([]window, len(job.Publishers)),
		out: Outcome{
			Deliveries: latency.New(), Acks: latency.New(),
			Connects: latency.New(), Resumes: latency.New(), Lag: latency.New(), Disconnects: map[string]int{},
		},
	}
	everybody := job.Dialect.script()
	secrets := append(everybody.secrets(), job.Secrets...)
	script := func(s Seat) *script {
		own := everybody.of(job.Dialect.Columns, s.Values)
		if own != everybody {
			secrets = append(secrets, own.secrets()...)
		}
		return own
	}
	for _, seat := range job.Publishers {
		e.publishers = append(e.publishers, script(seat))
	}
	address := "" // of the first node
	for _, n := range append([]Node{{job.Address, job.Host}}, job.More...) {
		way, err := e.open(n)
		if err != nil {
			e.Close()
			return nil, err
		}
		address = cmp.Or(address, way)
	}
	if job.Stream && len(job.Publishers) > 0 {
		if e.posts, err = newPoster(job, address, e.publishers); err != nil {
			e.Close()
			return nil, err
		}
	}
	e.out.ByNode = make([]int64, len(e.nodes))
	for i, seat := range job.Subscribers {
		e.clients = append(e.clients, &client{index: i, node: (job.First + i) % len(e.nodes), seat: seat, script: script(seat), tracks: make([]track, job.AllPublishers), sleeper: i < job.Stalled})
	}
	if !job.Stream {
		for i, seat := range job.Publishers {
			e.clients = append(e.clients, &client{index: len(job.Subscribers) + i, node: (job.FirstPublisher + i) % len(e.nodes), seat: seat, script: e.publishers[i], publisher: true})
		}
	}
	e.mask = newMask(secrets, job.Dialect.Binary)
	if e.loop, err = sockets.New(clock, job.Seed+uint64(job.First), e); err != nil {
		e.Close()
		return nil, fmt.Errorf("start socket loop: %w", err)
	}
	go e.loop.Run()
	e.loop.Do(e.nextSecond)
	return e, nil
}

// node is one address of the server.
type node struct {
	address unix.Sockaddr
	host    string
}

// open opens the way to a node, through a tunnel if it uses TLS, and returns its address.
func (e *Engine) open(n Node) (string, error) {
	address := n.Address
	if e.job.TLS != nil {
		p, err := server.OpenTunnel(address, *e.job.TLS)
		if err != nil {
			return "", err
		}
		e.passages = append(e.passages, p)
		address = p.Address()
	}
	to, err := sockets.Resolve(address)
	if err != nil {
		return "", err
	}
	e.nodes = append(e.nodes, node{to, n.Host})
	return address, nil
}

// Close ends all connections.
func (e *Engine) Close() {
	if e.loop != nil {
		e.loop.Stop()
	}
	for _, p := range e.passages {
		p.Close()
	}
	if e.posts != nil {
		e.posts.close()
	}
}

// now returns the time on the run's timeline.
func (e *Engine) now() time.Duration { return e.clock.Now() + e.offset }

// at schedules do for a moment of the timeline, on the loop.
func (e *Engine) at(due time.Duration, do func()) {
	e.loop.Agenda.At(due-e.offset, func(time.Duration) { do() })
}

// tick emits the sample of the last second and begins the next.
func (e *Engine) tick() {
	if e.closing {
		return
	}
	e.emit(e.sample())
	e.nextSecond()
}

// sample returns the measurements of the current second so far.
func (e *Engine) sample() Sample {
	s := e.current
	s.Open = e.ready
	if e.seconds.Count() > 0 {
		e.out.Deliveries.Merge(e.seconds)
		s.Latencies, e.seconds = e.seconds, latency.New()
	}
	return s
}

// nextSecond begins a sample, and schedules its end.
func (e *Engine) nextSecond() {
	e.current = Sample{Second: int64(e.now() / time.Second)}
	e.at(time.Duration(e.current.Second+1)*time.Second, e.tick)
}

// Connect dials all clients, spread over a duration, and returns immediately.
func (e *Engine) Connect(over time.Duration) {
	e.loop.Do(func() {
		start := e.now()
		for i, c := range e.clients {
			e.at(start+over*time.Duration(i)/time.Duration(len(e.clients)), func() { e.dial(c) })
		}
	})
}

// Muster counts the clients that are ready.
func (e *Engine) Muster() *Muster {
	m := &Muster{All: len(e.clients)}
	e.loop.Do(func() {
		for _, c := range e.clients {
			switch {
			case c.ready:
				m.Ready++
			case c.conn != nil && c.conn.Asking():
				m.Unanswered++
			}
		}
		m.Denied = e.denied
		m.Ends, m.Strange = maps.Clone(e.out.Disconnects), cmp.Or(e.out.Strange, e.out.StrangeAnswer)
	})
	return m
}

// Load starts the planned sending, and returns immediately.
func (e *Engine) Load(load *Load) {
	exact := *load
	load = &exact
	load.From = load.From.Truncate(time.Microsecond)
	e.loop.Do(func() {
		e.load = load
		e.at(load.From, func() { e.begin() })
		e.at(load.Until, func() { e.end() })
		for _, p := range load.Parts {
			for len(e.out.Parts) <= p.Kind {
				e.out.Parts = append(e.out.Parts, latency.New())
			}
			if p.Stalled {
				e.at(p.From, func() { e.sleep(true) })
				e.at(p.Until, func() { e.sleep(false) })
			}
		}
		e.publish()
		e.beside()
	})
}

func (e *Engine) begin() {
	e.loop.Turns = latency.New()
	e.began = reading{server.OwnCPU(), e.loop.Busy}
}

// end ends the measured time and the sending.
func (e *Engine) end() {
	if e.over {
		return
	}
	e.over = true
	// The loop continues with other counts.
	e.out.Turns, e.loop.Turns = e.loop.Turns, latency.New()
	e.out.CPU, e.out.Busy = server.OwnCPU()-e.began.cpu, e.loop.Busy-e.began.busy
}

// Stop ends the sending early; messages planned up to now count.
func (e *Engine) Stop() {
	e.loop.Do(func() {
		if e.load != nil {
			e.load.Until = min(e.load.Until, e.now())
		}
		e.end()
		e.sleep(false)
	})
}

// Drop closes all subscriber connections at a given time, and returns immediately.
func (e *Engine) Drop(d *Drop) {
	e.loop.Do(func() {
		e.at(d.At, func() {
			for _, c := range e.clients {
				if !c.publisher {
					e.drop(c, d.Spread)
				}
			}
		})
	})
}

// answersWithin is the timeout for the server's responses to the last messages.
const answersWithin = 5 * time.Second

// Sent waits until the publishers have finished, and returns the messages that they sent.
func (e *Engine) Sent() Sent {
	e.loop.Do(e.end)
	if e.posts != nil {
		e.posts.wait(answersWithin)
	}
	// A refusal still in flight would count as a loss.
	e.until(e.now()+answersWithin, func() bool { return len(e.planned) == 0 })
	s := Sent{Messages: map[int]int64{}, Refused: map[int][]int64{}}
	e.loop.Do(func() {
		for p, n := range e.sent {
			s.Messages[p] = n
		}
		for p, list := range e.refused {
			s.Refused[p] = append([]int64(nil), list...)
		}
	})
	return s
}

// Finish waits until everything has arrived, and returns the results. Afterwards the engine can
// only be closed.
func (e *Engine) Finish(f *Finish) *Outcome {
	for p := range f.Refused {
		slices.Sort(f.Refused[p])
	}
	e.until(f.Until, func() bool { return e.arrived(f) && len(e.planned) == 0 })
	e.loop.Do(func() { e.conclude(f) })
	return &e.out
}

// until waits until the condition, which is evaluated on the loop, is true.
func (e *Engine) until(end time.Duration, holds func() bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for e.now() < end {
		yes := false
		e.loop.Do(func() { yes = holds() })
		if yes {
			return
		}
		<-tick.C
	}
}
