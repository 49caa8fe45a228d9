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
	job     *Job
	clock   pacing.Clock
	offset  time.Duration // the run's timeline minus the clock
	loop    *sockets.Loop
	nodes   []node
	tunnels []*server.Tunnel // to nodes that use TLS
	emit    func(Sample)
	posts   *poster // for event streams; otherwise nil
	// publishers contains the scripts of this worker's publishers.
	publishers []*script
	mask       mask

	// The following fields are owned by the loop.
	reader  *reader
	rng     *rand.Rand
	clients []*client // subscribers, then publishers
	load    *Load
	over    bool // sending has ended
	// closing means that another goroutine owns the outcome, so nothing more is recorded.
	closing bool
	ready   int // number of ready subscribers
	out     Outcome
	// current is the sample in progress.
	current Sample
	// latencies contains the delivery latencies of the sample in progress.
	latencies *latency.Histogram
	// spoiled is the total length of the lists in client.spoiled, for all clients.
	spoiled int
	// strange means that out.Strange was sent to a ready client; strangeAnswer means the same for
	// out.StrangeAnswer.
	strange, strangeAnswer bool
	// flights contains the deliveries of each publisher's messages, by message number.
	flights [][]flight
	// newest counts the readers of messages beyond maxFlights, by publisher. It has twice as many
	// slots as messages can be in flight.
	newest  map[int]recent
	windows []window // of this worker's publishers
	sent    map[int]int64
	refused map[int][]int64
	// denied counts the permanent refusals of connections.
	denied int
	// planned contains the planned times of unacknowledged messages, by number.
	planned map[uint64]time.Duration
	began   usage // at the start of the measured time
}

// usage is the CPU time of the process and the busy time of its loop, since their start.
type usage struct{ cpu, busy time.Duration }

// flight describes the deliveries of one message to this worker's subscribers.
type flight struct {
	// last is the longest delivery time so far, in microseconds plus 1. It is 0 if the message is
	// not measured or has not arrived.
	last uint32
	// readers is the number of reading subscribers that have received the message.
	readers int32
}

// maxFlights is the maximum number of messages in Engine.flights, which limits it to 64 MiB. The
// time until the last subscriber received a message is not measured for later messages.
const maxFlights = 8 << 20

// recent counts the readers of a publisher's newest messages. A message uses the slot of its number
// modulo the number of slots, and replaces an earlier message there.
type recent []struct {
	n       int64
	readers int32
}

// add counts a reader of message n and returns the number of its readers.
func (r recent) add(n int64) int32 {
	slot := &r[n%int64(len(r))]
	if slot.n != n {
		slot.n, slot.readers = n, 0
	}
	slot.readers++
	return slot.readers
}

// NewEngine prepares a worker. The run's timeline is the clock plus offset. The loop calls emit
// every second. emit must not block.
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
		rng: rand.New(rand.NewPCG(job.Seed, uint64(job.First)+1)), latencies: latency.New(),
		sent: map[int]int64{}, refused: map[int][]int64{}, planned: map[uint64]time.Duration{},
		flights: make([][]flight, job.AllPublishers), newest: map[int]recent{}, windows: make([]window, len(job.Publishers)),
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
		dialed, err := e.open(n)
		if err != nil {
			e.Close()
			return nil, err
		}
		address = cmp.Or(address, dialed)
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

// open adds a node and returns the address to connect to. If the server uses TLS, this is the
// address of a tunnel to the node.
func (e *Engine) open(n Node) (string, error) {
	address := n.Address
	if e.job.TLS != nil {
		p, err := server.OpenTunnel(address, *e.job.TLS)
		if err != nil {
			return "", err
		}
		e.tunnels = append(e.tunnels, p)
		address = p.Address()
	}
	to, err := sockets.Resolve(address)
	if err != nil {
		return "", err
	}
	e.nodes = append(e.nodes, node{to, n.Host})
	return address, nil
}

// Close stops the loop, and ends all connections and tunnels.
func (e *Engine) Close() {
	if e.loop != nil {
		e.loop.Stop()
	}
	for _, p := range e.tunnels {
		p.Close()
	}
	if e.posts != nil {
		e.posts.close()
	}
}

// now returns the time on the run's timeline.
func (e *Engine) now() time.Duration { return e.clock.Now() + e.offset }

// at runs do on the loop when the run's timeline reaches due.
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

// sample returns the measurements of the current second so far. It adds the latencies to the
// outcome.
func (e *Engine) sample() Sample {
	s := e.current
	s.Open = e.ready
	if e.latencies.Count() > 0 {
		e.out.Deliveries.Merge(e.latencies)
		s.Latencies, e.latencies = e.latencies, latency.New()
	}
	return s
}

// nextSecond begins a sample and schedules its end.
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

// Muster counts the ready clients, and describes the state of the others.
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

// Load schedules the sending and returns immediately.
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

// begin begins the measured time.
func (e *Engine) begin() {
	e.loop.Turns = latency.New()
	e.began = usage{server.OwnCPU(), e.loop.Busy}
}

// end ends the measured time and the sending.
func (e *Engine) end() {
	if e.over {
		return
	}
	e.over = true
	// The loop records later turns in a new histogram, which is not reported.
	e.out.Turns, e.loop.Turns = e.loop.Turns, latency.New()
	e.out.CPU, e.out.Busy = server.OwnCPU()-e.began.cpu, e.loop.Busy-e.began.busy
}

// Stop ends the sending early. Messages planned up to now count.
func (e *Engine) Stop() {
	e.loop.Do(func() {
		if e.load != nil {
			e.load.Until = min(e.load.Until, e.now())
		}
		e.end()
		e.sleep(false)
	})
}

// Drop schedules the closing of all subscriber connections and returns immediately.
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

// Sent ends the sending, and waits for outstanding responses for a limited time. It returns, for
// each publisher, the number of sent messages and the numbers of the refused messages.
func (e *Engine) Sent() Sent {
	e.loop.Do(e.end)
	if e.posts != nil {
		e.posts.wait(answersWithin)
	}
	// Without this wait, a message whose refusal has not arrived yet would count as lost.
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

// Finish waits until all messages and responses have arrived, at most until f.Until, and returns
// the results. Afterwards the engine can only be closed.
func (e *Engine) Finish(f *Finish) *Outcome {
	for p := range f.Refused {
		slices.Sort(f.Refused[p])
	}
	e.until(f.Until, func() bool { return e.arrived(f) && len(e.planned) == 0 })
	e.loop.Do(func() { e.conclude(f) })
	return &e.out
}

// until waits until holds returns true on the loop, or until end.
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
