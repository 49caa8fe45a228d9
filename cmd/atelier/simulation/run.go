package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Run simulates one plan. It must be called inside a testing/synctest bubble.
// The error says what an oracle found; the history tells how it came about.
func Run(p Plan) (*history, error) {
	w, err := newWorld(p)
	if err != nil {
		return w.history, fmt.Errorf("build: %w", err)
	}
	until := time.Now().Add(p.For)
	var done sync.WaitGroup
	done.Add(1)
	go w.faults(until, &done)
	for i := range p.Clients {
		done.Add(1)
		c := &client{w: w, name: fmt.Sprintf("c%d", i+1), rand: rand.New(rand.NewPCG(p.Seed, uint64(100+i)))}
		go c.run(until, &done)
	}
	done.Wait()
	w.settle("when all is whole again")
	if w.model.failed() == "" {
		w.erased()
	}
	for _, n := range w.nodes {
		w.history.add("fault", "%s is killed", n.name)
		n.kill()
	}
	for _, n := range w.nodes {
		if err := n.restart(); err != nil {
			w.model.fail("restart", "node %s: %v", n.name, err)
		}
	}
	w.settle("after all were killed and started")
	for _, n := range w.nodes {
		n.close()
	}
	_ = w.store.Close()
	time.Sleep(time.Minute) // what is on its way ends; simulated time stops with this function
	if f := w.model.failed(); f != "" {
		return w.history, fmt.Errorf("seed %d, %d nodes: %s", p.Seed, p.Nodes, f)
	}
	return w.history, nil
}

// settle waits until every node answers, and looks at what each shows.
func (w *world) settle(when string) {
	w.history.add("end", "%s", when)
	for _, n := range w.nodes {
		var last error
		for try := 0; ; try++ {
			if w.model.failed() != "" {
				return
			}
			began := w.model.position()
			ws, err := n.labs.Get(w.lab)
			if err == nil {
				view, seq := ws.ViewAt()
				w.model.checkRead(n.name, began, seq)
				w.model.checkView(n.name, view, seq)
				break
			}
			if last = err; try == 60 {
				w.model.fail("answers", "%s, node %s gives no answer for a minute: %v", when, n.name, last)
				return
			}
			time.Sleep(time.Second)
		}
	}
}

// erased waits until nothing is left to erase, and looks into the store.
func (w *world) erased() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n := w.nodes[0]
	if err := n.labs.FinishErasing(ctx); err != nil {
		w.model.fail("erasing", "%v", err)
		return
	}
	w.model.checkStore(n)
}
