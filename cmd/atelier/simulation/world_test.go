package simulation

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/codelab/draw"
	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/actors/files"
	"atelier/persistence/memory"
)

// lies replaces layers around the server with faulty ones, so that a test can verify that an oracle
// reports the fault. A zero field replaces nothing.
type lies struct {
	store  func(n *memory.Node) durable.Shared
	frames func(node string) codelab.Frames
	fate   func(m bustest.Message, f *bustest.Fate)
	blobs  func(files.Blobs) files.Blobs
}

// world is one run.
type world struct {
	plan    Plan
	lies    lies
	history *history
	model   *model
	tokens  *tokens
	grants  *grants
	uploads *uploads
	hooks   *hooks // nil without a receiver
	store   *memory.Database
	net     *network
	nodes   []*node
	lab     string // id of the codelab in which everything happens
	tabs    numbers
	ended   chan struct{}
	// listening counts the running listeners, which end last.
	listening sync.WaitGroup
}

// lying reports whether a layer below this run's nodes is replaced.
func (w *world) lying() bool { return w.lies.store != nil || w.lies.fate != nil }

// random returns the random source of one kind of decision. Omitting a part of a plan therefore
// does not change the other parts.
func (p Plan) random(of uint64) *rand.Rand { return rand.New(rand.NewPCG(p.Seed, of)) }

// Each part of a run has its own random source.
const (
	ofFaults = 2 + iota
	ofMessages
	ofCrashes
	ofSnapshots
	ofClients   = 100
	ofListeners = 200
	ofPayers    = 300
	ofVisitors  = 400
	ofUploaders = 500
	ofClocks    = 600
)

func newWorld(p Plan, l lies) (*world, error) {
	w := &world{
		plan: p, lies: l, history: newHistory(), store: memory.NewDatabase(),
		ended: make(chan struct{}),
	}
	w.net = newNetwork(w, bustest.NewNet())
	w.model, w.tokens, w.grants, w.uploads = newModel(w), newTokens(w), &grants{w: w}, newUploads(w)
	if p.hooked() {
		w.hooks = &hooks{w: w, got: map[string]int{}}
	}
	w.store.Committed(w.model.committed)
	for i := range p.Nodes {
		n := newNode(w, i)
		if err := n.start(); err != nil {
			return w, err
		}
		w.nodes = append(w.nodes, n)
	}
	m, err := w.nodes[0].server.Load().labs.Create(draw.Facilitator, &codelab.Create{
		Codelab: &pb.Codelab{Title: "Simulated", IsPublic: true, Questions: pb.Asking_ASKING_OPEN},
		Steps:   []*pb.Step{{Title: "one", ContentMarkdown: "1"}, {Title: "two", ContentMarkdown: "2"}, {Title: "three", ContentMarkdown: "3" + draw.Checked}},
	})
	if err != nil {
		return w, fmt.Errorf("create the codelab: %w", err)
	}
	w.model.begin(m.Id)
	w.lab = m.Id
	if w.hooks != nil {
		return w, w.hooks.begin()
	}
	return w, nil
}

// pause waits, and returns early if the run has ended.
func (w *world) pause(d time.Duration) (goOn bool) {
	select {
	case <-w.ended:
		return false
	case <-time.After(d):
		return true
	}
}
