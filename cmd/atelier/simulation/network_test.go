package simulation

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
)

// network decides the fate of the messages between nodes.
type network struct {
	*bustest.Net
	w *world

	mu   sync.Mutex
	rand *rand.Rand
	// cuts counts the faults that cut a link from one node to another.
	cuts map[[2]string]int
	// deaf counts the faults that overflow a node's queue, so that the node receives no replication
	// messages (bustest.News).
	deaf map[string]int
	// lossy, twice and slow count the faults that affect all links.
	lossy, twice, slow int
}

func newNetwork(w *world, net *bustest.Net) *network {
	n := &network{Net: net, w: w, rand: w.plan.random(ofMessages), cuts: map[[2]string]int{}, deaf: map[string]int{}}
	net.Disturb(n.fate)
	return n
}

func (n *network) fate(m bustest.Message) (f bustest.Fate) {
	n.mu.Lock()
	defer n.mu.Unlock()
	draw, delay := n.rand.IntN(100), n.rand.ExpFloat64()
	f.Delay = time.Duration(delay * float64(500*time.Microsecond))
	if n.slow > 0 {
		f.Delay *= 200
	}
	f.Lost = n.cuts[[2]string{m.From, m.To}] > 0 || n.lossy > 0 && draw < 30 || n.w.plan.Seed%2 == 0 && draw == 0 || n.deaf[m.To] > 0 && m.Sort == bustest.News
	// Package bus ensures that nodes execute no request twice, so only replication messages arrive
	// twice here.
	f.Twice = n.twice > 0 && draw > 60 && m.Sort == bustest.News
	if n.w.lies.fate != nil {
		n.w.lies.fate(m, &f)
	}
	if kind := kindOf(m); f.Lost {
		n.w.history.count("message lost", kind)
	} else {
		n.w.history.count("message", kind)
	}
	return f
}

// kindOf returns the name of a message's kind.
func kindOf(m bustest.Message) string {
	kind := durable.MessageKind(m.Subject, m.Sort == bustest.Answer, m.Data)
	switch kind {
	case "":
		return m.Subject
	case "tell aside":
		var aside struct {
			Kind string `json:"k"`
		}
		_ = json.Unmarshal(m.Data[1:], &aside)
		return "aside " + aside.Kind
	}
	return kind
}

// during keeps a network fault active until end is called.
func (n *network) during(change func(by int)) (end func()) {
	by := func(d int) func() {
		return func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			change(d)
		}
	}
	by(1)()
	return sync.OnceFunc(by(-1))
}

func (n *network) cutLink(from, to string) (end func()) {
	return n.during(func(by int) { n.cuts[[2]string{from, to}] += by })
}
