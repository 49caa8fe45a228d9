package simulation

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	cmap "github.com/orcaman/concurrent-map"

	"atelier/actors/audit"
	"atelier/actors/catalog"
	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/login"
	"atelier/actors/participant"
	"atelier/actors/room"
	"atelier/actors/token"
	"atelier/actors/webhook"
	"atelier/persistence/memory"
	"atelier/transport/messages"
)

// An actor system keeps its actors in 1024 of these maps, each with SHARD_COUNT parts. With the
// default of SHARD_COUNT, creating these maps took a third of a run.
func init() { cmap.SHARD_COUNT = 1 }

const (
	// lease is the duration of a lease in the database. A node uses a lease for two thirds of this
	// time. Followers wait longer: three times ownerTimeout.
	lease        = 3 * time.Second
	ownerTimeout = time.Second
	// idleAfter is short, so that unused actors become inactive during a run.
	idleAfter = 20 * time.Second
)

// node is one simulated machine.
type node struct {
	w       *world
	name    string
	skew    time.Duration // the constant error of the node's time of day
	crashes *rand.Rand    // determines how much of the store's queue survives a kill; guarded by life
	starts  uint64        // guarded by life
	// server is the running server, or nil while the node is down.
	server atomic.Pointer[server]
	// life is held by the goroutine that starts or ends the node. It is not a mutex, because time
	// in a test bubble stops while a goroutine waits for a mutex.
	life chan struct{}

	late   atomic.Int64 // number of faults that delay the store's responses
	faulty sync.Mutex
	ends   []func() // guarded by faulty; each ends an active fault of this process
}

// server is one start of the program on a node.
type server struct {
	n      *node
	store  *memory.Node
	shared durable.Shared // the same store, with the faults of this node
	clock  *clocktest.Clock
	system *actor.ActorSystem
	labs   *codelab.Codelabs
	list   *catalog.List
	files  *files.Register
	// contents is the node's access to the shared contents of files.
	contents *mount
	vault    *token.Vault // nil without payers
	// sessions and parties are nil in runs without visitors.
	sessions *login.Sessions
	parties  *participant.Host
	hooks    *webhook.Webhooks // nil without a receiver
	unhook   func()            // ends the deliveries of hooks
	unplug   func()            // disconnects the server from the network
	stop     chan struct{}
	done     chan struct{} // closed when watch has ended
	sweeping sync.WaitGroup
	dead     atomic.Bool // the process was killed, so its messages reach nobody
}

func newNode(w *world, i int) *node {
	n := &node{w: w, name: fmt.Sprint("n", i+1), life: make(chan struct{}, 1), crashes: w.plan.random(ofCrashes<<8 + uint64(i))}
	if w.plan.skewed() {
		n.skew = time.Duration((w.plan.random(ofClocks+uint64(i)).Float64()*2 - 1) * float64(maxSkew))
		w.tokens.jumped.Store(true)
	}
	return n
}

// start boots the server of a node, after the previous lease has expired.
func (n *node) start() error {
	w := n.w
	n.starts++
	commits := rand.New(rand.NewPCG(w.plan.Seed, n.starts<<16+uint64(n.name[1])))
	latency := 2 * time.Millisecond
	if w.plan.Uploaders > 0 && n.name == "n1" {
		latency *= 5 // so that removals collide with claims by other nodes
	}
	clock := clocktest.New()
	clock.SetOffset(n.skew)
	store, err := w.store.Start(context.Background(), n.name, memory.NodeOptions{
		Lease: lease, Uptime: clock.Uptime,
		AfterFunc: func(d time.Duration, fn func()) func() bool { return clock.AfterFunc(d, fn).Stop },
		Latency:   func() time.Duration { return time.Duration(commits.ExpFloat64() * float64(latency)) },
		Answer: func() time.Duration {
			return time.Duration(commits.ExpFloat64()*float64(time.Millisecond)) * time.Duration(1+300*n.late.Load())
		},
	})
	if err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	var shared durable.Shared = store
	if w.lies.store != nil {
		shared = w.lies.store(store)
	}
	var frames codelab.Frames = slowFrames{}
	if w.lies.frames != nil {
		frames = w.lies.frames(n.name)
	}
	bus, unplug := w.net.Node(n.name)
	s := &server{n: n, store: store, shared: shared, clock: clock, unplug: unplug, system: durable.NewSystem(), stop: make(chan struct{}), done: make(chan struct{})}
	s.list, err = catalog.FollowList(shared, clock, func(err error) { s.unreadable("list", err) })
	if err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	cluster := durable.Options{
		Clock: clock, SnapshotEvents: 50, IdleAfter: idleAfter,
		Cluster: &durable.Cluster{Store: shared, Bus: bus, OwnerTimeout: ownerTimeout, MaxReplicated: w.plan.maxReplicated()},
	}
	if err := s.startHooks(cluster); err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	rules := codelab.Rules{FileGrace: fileGrace, BallotKey: ballotKey}
	if s.hooks != nil {
		rules.Webhooks = s.hooks.Outbox
	}
	s.files = w.newRegister(s)
	s.labs, err = codelab.NewCodelabs(codelab.Config{
		System: s.system, Journal: shared, List: s.list, Frames: frames, Epoch: store.StreamID(), Files: s.files,
		Rules:   rules,
		Room:    room.Limits{Frames: keptFrames},
		Durable: cluster,
		Sweep:   true,
		Rehearse: func(ctx context.Context, ws codelab.Codelab) { // only waits, because clients report the actions
			over := ws.Clock().NewTimer(3 * time.Second)
			defer over.Stop()
			select {
			case <-ctx.Done():
			case <-over.C():
			}
		},
		Removed:   func(r *room.Room, attendee string) { w.model.sentAway(r, attendee) },
		Forgotten: func(r *room.Room) { w.model.sentAway(r, "") },
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err == nil && w.plan.Payers > 0 {
		s.vault, err = w.newVault(s)
	}
	if err == nil && w.plan.Visitors > 0 {
		s.sessions, err = login.Follow(shared, []byte("account"), clock, func(err error) { s.unreadable("grants", err) })
		if err == nil {
			options := cluster
			options.IdleAfter = -1 // never, as in the server, because participants are requested constantly
			s.parties, err = durable.NewHost(s.system, shared, participant.Kind(audit.New(shared, clock, time.Hour)), options)
		}
	}
	if err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	n.server.Store(s)
	if w.plan.Uploaders > 0 {
		s.sweeping.Go(s.sweep)
	}
	go s.watch()
	return nil
}

// unreadable receives the errors of records that could not be read. Without the store, reads can
// fail, and they are repeated later.
func (s *server) unreadable(which string, err error) {
	if !isOne(err, expected) {
		s.n.w.model.fail(which, "node %s: %v", s.n.name, err)
	}
}

// ballotKey returns the secret of anonymous polls, which is the same on every node.
func ballotKey(id string) []byte {
	key := sha256.Sum256([]byte(id))
	return key[:]
}

// slowFrames waits for a moment in some calls, so that other goroutines act during a commit.
type slowFrames struct{ messages.Frames }

func (f slowFrames) Encode(seq uint64, e *pb.Event) (room.Frame, bool) {
	if seq%7 == 0 {
		time.Sleep(50 * time.Microsecond)
	}
	return f.Frames.Encode(seq, e)
}

// keptFrames is the number of frames kept for replay. It is small, so that some listeners must
// read the state again.
const keptFrames = 60

// errDown is the error for clients of a node that is down.
var errDown = errors.New("connection refused")

// get returns the codelab on a node.
func (n *node) get() (*server, codelab.Codelab, error) {
	s := n.server.Load()
	if s == nil {
		return nil, codelab.Codelab{}, errDown
	}
	ws, err := s.labs.Get(n.w.lab)
	return s, ws, s.leaves(err)
}

// leaves returns the error that a client receives instead of err. Like the transport, a node
// without a lease sends no response. A killed process sends none either.
func (s *server) leaves(err error) error {
	switch {
	case s.dead.Load():
		return errDown
	case err == nil && !s.shared.Holds():
		return durable.ErrUnavailable
	}
	return err
}

// watch does the tasks of cmd/atelier/service in addition to the actors. A server that has lost its
// lease drops its actors and rejoins, and the people connected to each node are compared regularly.
func (s *server) watch() {
	defer close(s.done)
	tick := s.clock.NewTicker(2 * time.Second)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		select {
		case <-s.stop:
			return
		case <-s.shared.Lost():
			if s.dead.Load() {
				return
			}
			s.n.w.history.add("fault", s.n.name, "has lost its lease, and restarts")
			s.n.w.model.sentAllAway(s)
			s.drop()
			if err := s.store.Rejoin(ctx); err != nil {
				if !s.dead.Load() && ctx.Err() == nil {
					s.n.w.model.fail("rejoin", "node %s: %v", s.n.name, err)
				}
				return
			}
			s.n.w.history.add("fault", s.n.name, "is back")
		case <-tick.C():
			if members, err := s.store.Members(); err == nil {
				var alive []string
				for _, m := range members {
					if m.Left > 0 {
						alive = append(alive, m.Node)
					}
				}
				s.labs.Compare(alive)
			}
		}
	}
}

// close stops a node properly.
func (n *node) close() error {
	n.life <- struct{}{}
	defer func() { <-n.life }()
	s := n.server.Swap(nil)
	if s == nil {
		return nil
	}
	n.w.model.sentAllAway(s)
	close(s.stop)
	<-s.done
	return s.end()
}

// kill ends a node immediately, and messages in flight are lost.
func (n *node) kill() {
	n.life <- struct{}{}
	defer func() { <-n.life }()
	s := n.server.Swap(nil)
	if s == nil {
		return
	}
	s.dead.Store(true)
	s.unplug()
	s.store.Kill(func(queued int) int { return n.crashes.IntN(queued + 1) })
	n.goOn()
	n.w.model.sentAllAway(s)
	close(s.stop)
	<-s.done
	s.drop()
	_ = s.end() // the killed process no longer owns anything
}

// inTime panics if an operation takes more than a minute. Otherwise the operation and the run would
// never end.
func inTime(what string) (done func() bool) {
	return time.AfterFunc(time.Minute, func() { panic(what + " takes more than a minute: a caller got no response") }).Stop
}

// drop ends all actors immediately.
func (s *server) drop() {
	defer inTime("dropping all actors of " + s.n.name)()
	s.labs.Drop()
	if s.hooks != nil {
		s.hooks.Host().Drop()
	}
	if s.parties != nil {
		s.parties.Drop()
	}
}

func (s *server) end() error {
	defer inTime("closing " + s.n.name)()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if n := s.labs.Stats().Divergences.Load(); n > 0 && !s.n.w.lying() {
		s.n.w.model.fail("divergence", "%s counts %d replicas that differ from their owner without a fault", s.n.name, n)
	}
	err := s.labs.Close(ctx)
	if s.hooks != nil {
		s.unhook()
		err = errors.Join(err, s.hooks.Close(ctx))
	}
	s.contents.end()
	s.sweeping.Wait()
	if s.vault != nil {
		err = errors.Join(err, s.vault.Close(ctx))
	}
	if s.parties != nil {
		err = errors.Join(err, s.parties.Close(ctx))
		s.sessions.Close()
	}
	s.unplug()
	s.list.Close()
	s.system.Shutdown()
	return errors.Join(err, s.store.Close())
}

// restart boots a stopped node as a new incarnation.
func (n *node) restart() {
	n.life <- struct{}{}
	defer func() { <-n.life }()
	if n.server.Load() != nil {
		return
	}
	n.w.history.add("fault", n.name, "is started")
	if err := n.start(); err != nil {
		n.w.model.fail("restart", "%v", err)
	}
}

// during records a fault of this process. The fault lasts until end is called or the process
// ends.
func (n *node) during(ends ...func()) (end func()) {
	end = sync.OnceFunc(func() {
		for _, f := range ends {
			f()
		}
	})
	n.faulty.Lock()
	defer n.faulty.Unlock()
	n.ends = append(n.ends, end)
	return end
}

// goOn ends all faults of this process.
func (n *node) goOn() {
	n.faulty.Lock()
	ends := n.ends
	n.ends = nil
	n.faulty.Unlock()
	for _, end := range ends {
		end()
	}
}
