package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/clock"
)

// Options configures a Host. Zero values select the defaults.
type Options struct {
	// Clock provides the time of day for decisions. The host measures all other times by the
	// clock's uptime. The default is clock.System.
	Clock clock.Clock
	// Logger logs messages for operators, never the content of a command. The
	// default drops the messages.
	Logger *slog.Logger
	// AskTimeout bounds how long Ask and Get wait. The default is 10 s.
	AskTimeout time.Duration
	// MaxPending bounds the unanswered commands and the waiting reads of one actor.
	// The default is 65,536.
	MaxPending int
	// MaxBatchBytes bounds the size, in bytes, of one actor's events that wait to be appended. The
	// default is 8 MiB. A single command can exceed it.
	MaxBatchBytes int
	// SnapshotEvents and SnapshotBytes are numbers of events and of bytes since the last snapshot.
	// A snapshot is due once one of them is reached and the bytes are at least half of the size of
	// the last snapshot. The defaults are 20,000 and 16 MiB.
	SnapshotEvents, SnapshotBytes int
	// BackoffMin and BackoffMax bound the backoff before a restart, which doubles with each
	// failure. The defaults are 100 ms and 10 s.
	BackoffMin, BackoffMax time.Duration
	// MaxFailures is the number of failures after which an actor is still restarted. The next
	// failure quarantines it. The count starts again after FailureWindow without a failure. The
	// defaults are 5 and a minute.
	MaxFailures   int
	FailureWindow time.Duration
	// ErasePause is the pause between two rounds of erasure of one actor. The default is 2 s.
	ErasePause time.Duration
	// QuarantineFor is the time before a quarantined actor can be activated again. The default is 5
	// min.
	QuarantineFor time.Duration
	// IdleAfter is the time after which an unused actor is stopped. The default is 15 min. A
	// negative value means never.
	IdleAfter time.Duration
	// Waited, if set, is called for one in eight commands, with the time that the command spent in
	// its actor's mailbox. It must not block.
	Waited func(time.Duration)
	// Gate is called before each command that is not urgent. Its error rejects the command, for
	// example while the store is read-only. nil accepts all commands.
	Gate func() error
	// Cluster lets several nodes share the actors. It is nil for a single node. Its Store is the
	// host's journal.
	Cluster *Cluster
}

func (o *Options) setDefaults() {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	dur := func(p *time.Duration, v time.Duration) {
		if *p == 0 {
			*p = v
		}
	}
	if o.Clock == nil {
		o.Clock = clock.System
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	dur(&o.AskTimeout, 10*time.Second)
	def(&o.MaxPending, 65536)
	def(&o.MaxBatchBytes, 8<<20)
	def(&o.SnapshotEvents, 20000)
	def(&o.SnapshotBytes, 16<<20)
	dur(&o.BackoffMin, 100*time.Millisecond)
	dur(&o.BackoffMax, 10*time.Second)
	def(&o.MaxFailures, 5)
	dur(&o.FailureWindow, time.Minute)
	dur(&o.ErasePause, 2*time.Second)
	dur(&o.QuarantineFor, 5*time.Minute)
	dur(&o.IdleAfter, 15*time.Minute)
	if o.Cluster != nil {
		o.Cluster.setDefaults()
	}
}

// Stats contains the counters of a Host since its start.
type Stats struct {
	Recoveries, Failures, Panics, Snapshots, Rests atomic.Int64
	// The following counters are used in a cluster. Forwarded counts commands sent to another node.
	// Takeovers counts actors that this node took over from another one. Questions counts requests
	// to owners for the last acknowledged position, and Confirmed the reads that the answers
	// allowed. Divergences counts replicas that differed from their owner at the same position.
	Forwarded, Takeovers, Questions, Confirmed, Divergences atomic.Int64
}

// Host runs all actors of one kind. It activates them on demand, supervises them, and stops idle
// ones. Safe for concurrent use.
type Host[C, E, V any] struct {
	kind    Kind[C, E, V]
	journal Journal
	limits  Limits // of journal
	system  *actor.ActorSystem
	opts    Options
	log     *slog.Logger
	stats   Stats
	workers *dispatcher
	replies *pendingReplies
	// envelopes are returned to the pool by the actor that opened them.
	envelopes sync.Pool

	supervisor *actor.PID

	mu      sync.Mutex // guards handles and closed
	handles map[string]*Handle[C, E, V]
	closed  bool
	serial  uint64 // part of each actor's name, to make it unique
	stop    chan struct{}
	beside  sync.WaitGroup // goroutines that end with stop
	// beating is the goroutine of beats. It runs until the last actor of a cluster has stopped (see
	// rested), because a replica answers its readers on beats.
	beating sync.WaitGroup
	rested  chan struct{}
}

// NewSystem returns an actor system without a log. The library would log messages, which can
// contain personal data or secrets.
func NewSystem() *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }),
		actor.WithDeadLetterRequestLogging(false),
		// The first dead letter of an interval starts a goroutine that lives for the rest of the
		// interval.
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
}

// NewHost starts a host in the given actor system.
func NewHost[C, E, V any](system *actor.ActorSystem, journal Journal, kind Kind[C, E, V], opts Options) (*Host[C, E, V], error) {
	opts.setDefaults()
	h := &Host[C, E, V]{
		kind: kind, journal: journal, limits: journal.Limits(), system: system, opts: opts,
		log:     opts.Logger.With("component", kind.Name),
		handles: map[string]*Handle[C, E, V]{},
		workers: newDispatcher(),
		replies: newPendingReplies(opts.Clock, opts.AskTimeout),
		stop:    make(chan struct{}),
		rested:  make(chan struct{}),
	}
	h.envelopes.New = func() any { return new(envelope[C]) }
	props := actor.PropsFromFunc(h.supervise, actor.WithSupervisor(strategy[C, E, V]{h}))
	pid, err := system.Root.SpawnNamed(props, kind.Name)
	if err != nil {
		return nil, fmt.Errorf("spawn supervisor of %s: %w", kind.Name, err)
	}
	h.supervisor = pid
	if opts.Cluster != nil {
		if err := h.join(); err != nil {
			return nil, err
		}
	}
	if opts.IdleAfter > 0 {
		h.beside.Go(h.sweep)
	}
	if kind.Erases != nil {
		h.beside.Go(h.keepErasing)
	}
	return h, nil
}

// Stats returns the host's counters.
func (h *Host[C, E, V]) Stats() *Stats { return &h.stats }

// Get returns the handle of an actor. It activates the actor if necessary, and waits until the
// actor has recovered. In a cluster, the view then includes everything that any node acknowledged
// before the call. The error is ErrQuarantined, ErrTimeout, ErrClosed, ErrBusy or ErrUnavailable.
func (h *Host[C, E, V]) Get(id string) (*Handle[C, E, V], error) {
	var lost <-chan struct{} // closed when this node loses its lease
	if c := h.opts.Cluster; c != nil {
		if lost = c.Store.Lost(); c.Aside.Load() || !c.Store.Holds() {
			return nil, ErrUnavailable
		}
	}
	hd, err := h.activate(id)
	if err != nil {
		return nil, err
	}
	select {
	case <-hd.ready:
	default:
		t := h.opts.Clock.NewTimer(h.opts.AskTimeout)
		defer t.Stop()
		select {
		case <-hd.ready:
		case <-lost:
			return nil, ErrUnavailable
		case <-t.C():
			return nil, ErrTimeout
		}
	}
	switch hd.Condition() {
	case Quarantined:
		return nil, ErrQuarantined
	case Resting: // after the look-up
		if err := h.awaitRest(hd, lost); err != nil {
			return nil, err
		}
		return h.Get(id)
	}
	hd.touch()
	if h.opts.Cluster != nil {
		if err := hd.current(); err != nil {
			return nil, err
		}
	}
	return hd, nil
}

// restCheck is the interval at which awaitRest reads the condition.
const restCheck = 5 * time.Millisecond

// awaitRest waits until a resting actor has stopped, or is not resting anymore: tryRest closes a
// handle for a moment even if a command is pending. lost is closed when this node loses its lease.
// The error is ErrUnavailable or ErrTimeout.
func (h *Host[C, E, V]) awaitRest(hd *Handle[C, E, V], lost <-chan struct{}) error {
	late := h.opts.Clock.NewTimer(h.opts.AskTimeout)
	defer late.Stop()
	for hd.Condition() == Resting {
		check := h.opts.Clock.NewTimer(restCheck)
		select {
		case <-hd.done:
			check.Stop()
			return nil
		case <-lost:
			check.Stop()
			return ErrUnavailable
		case <-late.C():
			check.Stop()
			return ErrTimeout
		case <-check.C():
		}
	}
	return nil
}

// Peek returns the handle of an active actor, or nil.
func (h *Host[C, E, V]) Peek(id string) *Handle[C, E, V] {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.handles[id]
}

// Active returns the handles of all actors that are not stopped, and of
// quarantined actors.
func (h *Host[C, E, V]) Active() []*Handle[C, E, V] {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*Handle[C, E, V], 0, len(h.handles))
	for _, hd := range h.handles {
		out = append(out, hd)
	}
	return out
}

// QuarantinedIDs returns the ids of quarantined actors.
func (h *Host[C, E, V]) QuarantinedIDs() []string {
	var out []string
	for _, hd := range h.Active() {
		if hd.Condition() == Quarantined {
			out = append(out, hd.id)
		}
	}
	return out
}

type spawn[C, E, V any] struct{ handle *Handle[C, E, V] }

func (h *Host[C, E, V]) activate(id string) (*Handle[C, E, V], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if hd := h.handles[id]; hd != nil {
		return hd, nil
	}
	if h.closed {
		return nil, ErrClosed
	}
	h.serial++
	hd := &Handle[C, E, V]{
		id: id, actorID: h.kind.Name + "/" + id, host: h,
		ready: make(chan struct{}), done: make(chan struct{}),
	}
	hd.pid = actor.NewPID(h.system.Address(), fmt.Sprintf("%s/%s-%d", h.supervisor.Id, id, h.serial))
	hd.touch()
	if h.kind.Observe != nil {
		hd.observer = h.kind.Observe(id, hd)
	}
	h.handles[id] = hd
	h.system.Root.Send(h.supervisor, spawn[C, E, V]{hd})
	return hd, nil
}

// supervise is the parent actor of the kind's actors.
func (h *Host[C, E, V]) supervise(ctx actor.Context) {
	m, ok := ctx.Message().(spawn[C, E, V])
	if !ok {
		return
	}
	props := actor.PropsFromProducer(func() actor.Actor {
		if h.opts.Cluster != nil {
			return &role[C, E, V]{host: h, handle: m.handle}
		}
		return h.newRuntime(m.handle)
	}, actor.WithDispatcher(h.workers))
	name := m.handle.pid.Id[len(h.supervisor.Id)+1:]
	if _, err := ctx.SpawnNamed(props, name); err != nil && !errors.Is(err, actor.ErrNameExists) {
		h.log.Error("starting an actor failed", "actor", m.handle.actorID, "error", err)
	}
}

// forget removes a handle that is no longer used.
func (h *Host[C, E, V]) forget(hd *Handle[C, E, V]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.handles[hd.id] != hd {
		return // a successor already uses the id
	}
	delete(h.handles, hd.id)
	// Called before a successor starts, because Rested would otherwise remove what the successor's
	// Observe has created.
	if h.kind.Rested != nil {
		h.kind.Rested(hd.id)
	}
}

// sweep stops idle actors.
func (h *Host[C, E, V]) sweep() {
	tick := h.opts.Clock.NewTicker(max(h.opts.IdleAfter/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-tick.C():
		}
		limit := int64(h.opts.Clock.Uptime() - h.opts.IdleAfter)
		for _, hd := range h.Active() {
			if hd.used.Load() <= limit && (h.kind.MayRest == nil || h.kind.MayRest(hd.id)) {
				h.Rest(context.Background(), hd, false)
			}
		}
	}
}

// Rest stops an actor that has no open commands, and waits until it has stopped. With snapshot, the
// actor first writes a snapshot if enough has changed. Rest reports whether the actor has stopped.
func (h *Host[C, E, V]) Rest(ctx context.Context, hd *Handle[C, E, V], snapshot bool) bool {
	if !hd.tryRest() {
		return false
	}
	h.system.Root.Send(hd.pid, rest{snapshot})
	select {
	case <-hd.done:
		h.stats.Rests.Add(1)
		return true
	case <-ctx.Done():
		return false
	}
}

// restingAtOnce bounds the actors that Close stops concurrently. For each of them, a goroutine
// waits for the store, and checks every 5 ms whether the actor still has open commands.
const restingAtOnce = 256

// restAll stops all actors.
func (h *Host[C, E, V]) restAll(ctx context.Context) {
	all := h.Active()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(restingAtOnce, len(all)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
				h.restSurely(ctx, all[i])
			}
		})
	}
	wg.Wait()
}

// restSurely stops an actor once it has no open commands.
func (h *Host[C, E, V]) restSurely(ctx context.Context, hd *Handle[C, E, V]) {
	tick := h.opts.Clock.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !h.Rest(ctx, hd, true) {
		if c := hd.Condition(); c != Running {
			return // the actor has no state to write, because it did not recover, or another call is stopping it
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

// resumeErasingEvery is the interval at which a host looks for interrupted erasures.
const resumeErasingEvery = time.Hour

// keepErasing resumes interrupted erasures at the start and then regularly. An erasure is also
// interrupted if it fails while its actor stops, or if its owner loses the lease.
func (h *Host[C, E, V]) keepErasing() {
	tick := h.opts.Clock.NewTicker(resumeErasingEvery)
	defer tick.Stop()
	for {
		h.resumeErasing()
		select {
		case <-h.stop:
			return
		case <-tick.C():
		}
	}
}

// resumeErasing activates the actors whose erasure was interrupted.
func (h *Host[C, E, V]) resumeErasing() {
	failed := 0
	ids, err := h.erasing()
	for _, id := range ids {
		select {
		case <-h.stop:
			return
		default:
		}
		// An actor that cannot be activated must not keep the others from erasing.
		if _, one := h.Get(id); one != nil {
			failed, err = failed+1, one
		}
	}
	if err != nil {
		h.log.Warn("resuming an interrupted erasure failed; it is tried again in an hour, or when the actor is next used", "actors", failed, "error", err)
	}
}

// erasing returns the ids of the actors that have something to erase.
func (h *Host[C, E, V]) erasing() (ids []string, err error) {
	prefix := h.kind.Name + "/"
	err = h.journal.Scan(Scan{Table: erasureTable, Prefix: []byte(prefix)}, func(key, _ []byte) bool {
		ids = append(ids, string(key[len(prefix):]))
		return true
	})
	return ids, err
}

// FinishErasing waits until no actor has anything left to erase, or until ctx ends. This includes
// erasures requested during the call. A quarantined actor cannot erase. Once only such actors are
// left, FinishErasing returns ErrQuarantined.
func (h *Host[C, E, V]) FinishErasing(ctx context.Context) error {
	tick := h.opts.Clock.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		ids, err := h.erasing()
		if err != nil || len(ids) == 0 {
			return err
		}
		stuck := 0
		for _, id := range ids {
			switch hd, err := h.Get(id); {
			case err == nil:
				h.system.Root.Send(hd.pid, eraseNow{})
			case errors.Is(err, ErrQuarantined):
				stuck++
			}
		}
		if stuck == len(ids) {
			return fmt.Errorf("erasing in %d actors: %w", stuck, ErrQuarantined)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("erasing in %d actors is not done: %w", len(ids), ctx.Err())
		case <-tick.C():
		}
	}
}

// Close writes snapshots, and stops every actor and the host. Open commands are answered first.
// Close returns ctx's error if stopping takes too long; even then no acknowledged command is lost.
func (h *Host[C, E, V]) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	close(h.stop)
	h.beside.Wait()
	defer h.workers.close()
	defer h.replies.close()

	h.restAll(ctx)
	close(h.rested)
	h.beating.Wait()
	done := make(chan error, 1)
	go func() { done <- h.system.Root.StopFuture(h.supervisor).Wait() }()
	select {
	case err := <-done:
		return errors.Join(err, ctx.Err())
	case <-ctx.Done():
		return ctx.Err()
	}
}
