package simulation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/actors/files"
	"atelier/actors/room"
	"atelier/persistence/memory"
	"atelier/transport/messages"
)

// Plan says what one run is like. Everything else follows from the seed.
type Plan struct {
	Seed uint64
	// Nodes is how many there are, 1 to 5.
	Nodes int
	// Clients is how many people act at the same time, and For is how long, in
	// simulated time.
	Clients int
	For     time.Duration
}

// PlanOf returns the plan of a seed. nodes fixes their number; 0 leaves it to
// the seed.
func PlanOf(seed uint64, nodes int) Plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := Plan{Seed: seed, Nodes: 1 + r.IntN(4), Clients: 2 + r.IntN(4), For: 5*time.Second + time.Duration(r.IntN(10))*time.Second}
	if nodes > 0 {
		p.Nodes = nodes
	}
	return p
}

// world is one run.
type world struct {
	plan    Plan
	rand    *rand.Rand // of the faults; each client has its own
	history *history
	model   *model
	store   *memory.Store
	net     *bustest.Net
	nodes   []*node
	lab     string // id of the codelab in which everything happens
	ended   chan struct{}
}

// node is one simulated machine.
type node struct {
	w      *world
	name   string
	shared *memory.Node
	// server is what runs there; nil while it is down.
	server atomic.Pointer[server]
	life   sync.Mutex // held by who starts or ends it
}

// server is one start of the program on a node.
type server struct {
	n      *node
	system *actor.ActorSystem
	labs   *codelab.Workshops
	list   *catalog.List
	unplug func()        // takes it off the network
	stop   chan struct{} // ends watch
	done   chan struct{} // watch has ended
}

// silentBlobs is the content store of a run: nothing is uploaded.
type silentBlobs struct{ files.Blobs }

func (silentBlobs) Discard(files.InUse, ...files.Sum) error { return nil }

var facilitator = &codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, Name: "Facilitator", Person: "login", AdminID: "admin"}

func newWorld(p Plan) (*world, error) {
	w := &world{plan: p, rand: rand.New(rand.NewPCG(p.Seed, 2)), history: newHistory(), net: bustest.NewNet(), ended: make(chan struct{})}
	w.model = newModel(w)
	var shared []*memory.Node
	w.store, shared = memory.Share(p.Nodes)
	for _, s := range shared {
		n := &node{w: w, name: s.Node(), shared: s}
		if err := n.start(); err != nil {
			return nil, err
		}
		w.nodes = append(w.nodes, n)
	}
	m, err := w.nodes[0].server.Load().labs.Create(facilitator, &codelab.Create{
		Codelab: &pb.Codelab{Title: "Simulated", IsPublic: true},
		Steps:   []*pb.Step{{Title: "one", ContentMarkdown: "1"}, {Title: "two", ContentMarkdown: "2"}, {Title: "three", ContentMarkdown: "3"}},
	})
	if err != nil {
		return nil, err
	}
	w.lab = m.Id
	return w, nil
}

// start boots the server of a node.
func (n *node) start() error {
	bus, unplug := n.w.net.Node(n.name)
	s := &server{n: n, unplug: unplug, system: durable.NewSystem(), stop: make(chan struct{}), done: make(chan struct{})}
	var err error
	if s.list, err = catalog.FollowList(n.shared, clock.System, func(err error) { n.w.model.fail("list", "%v", err) }); err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	s.labs, err = codelab.NewWorkshops(codelab.Config{
		System: s.system, Journal: n.shared, List: s.list, Frames: messages.Frames{}, Epoch: n.shared.StreamID(),
		Files:  files.NewRegister(n.shared, silentBlobs{}, time.Hour, time.Now),
		Room:   room.Limits{Frames: 200},
		Logger: slog.New(slog.DiscardHandler),
		Durable: durable.Options{
			SnapshotEvents: 50,
			Cluster:        &durable.Cluster{Store: n.shared, Bus: bus},
		},
	})
	if err != nil {
		return fmt.Errorf("node %s: %w", n.name, err)
	}
	n.server.Store(s)
	go s.watch()
	return nil
}

// errDown is what clients of a node get that is down.
var errDown = errors.New("connection refused")

// get asks a node for the codelab.
func (n *node) get() (codelab.Workshop, error) {
	s := n.server.Load()
	if s == nil {
		return codelab.Workshop{}, errDown
	}
	return s.labs.Get(n.w.lab)
}

// watch does what cmd/atelier/service does beside the actors: it brings a node
// back that has lost its lease, and compares who is connected.
func (s *server) watch() {
	defer close(s.done)
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-s.n.shared.Lost():
			s.labs.Drop()
			// The lease that is gone has to end for all others first.
			select {
			case <-s.stop:
				return
			case <-time.After(time.Second):
			}
			if err := s.n.shared.Rejoin(context.Background()); err != nil {
				s.n.w.model.fail("rejoin", "node %s: %v", s.n.name, err)
				return
			}
			s.n.w.history.add(s.n.name, "is back")
		case <-tick.C:
			s.labs.Compare(s.n.w.names())
		}
	}
}

func (w *world) names() (names []string) {
	for _, n := range w.nodes {
		names = append(names, n.name)
	}
	return names
}

// close stops a node in order. kill lets it fall: what is on its way is lost.
func (n *node) close() {
	n.life.Lock()
	defer n.life.Unlock()
	s := n.server.Swap(nil)
	close(s.stop)
	<-s.done
	s.end(func(err error) { n.w.model.fail("close", "node %s: %v", n.name, err) })
}

func (n *node) kill() {
	n.life.Lock()
	defer n.life.Unlock()
	s := n.server.Swap(nil)
	if s == nil {
		return
	}
	n.w.history.add("fault", "%s is killed", n.name)
	n.shared.Lose()
	s.unplug()
	close(s.stop)
	<-s.done
	s.labs.Drop()
	s.end(func(error) {}) // it owns nothing any more
}

func (s *server) end(failed func(error)) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.labs.Close(ctx); err != nil {
		failed(err)
	}
	s.unplug()
	s.list.Close()
	s.system.Shutdown()
}

// restart boots a node that was killed, as a new incarnation.
func (n *node) restart() error {
	n.life.Lock()
	defer n.life.Unlock()
	if n.server.Load() != nil {
		return nil
	}
	n.w.history.add("fault", "%s is started", n.name)
	if err := n.shared.Rejoin(context.Background()); err != nil {
		return err
	}
	return n.start()
}
