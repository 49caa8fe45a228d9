package simulation

import (
	"errors"
	"sync"
	"time"
)

var errCommit = errors.New("simulated: the commit failed")

// faults lets things go wrong until a time, then puts all right again.
func (w *world) faults(until time.Time, done *sync.WaitGroup) {
	defer done.Done()
	for {
		wait := time.Duration(w.rand.ExpFloat64() * float64(3*time.Second))
		if time.Now().Add(wait).After(until) {
			return
		}
		select {
		case <-w.ended:
			return
		case <-time.After(wait):
		}
		a := w.nodes[w.rand.IntN(len(w.nodes))]
		b := w.nodes[w.rand.IntN(len(w.nodes))]
		kind := w.rand.IntN(10)
		if a == b && kind != 6 && kind < 7 {
			continue // it takes two
		}
		switch kind {
		case 0, 1: // the link between two is cut
			w.cut(until, [][2]string{{a.name, b.name}, {b.name, a.name}})
		case 2: // in one direction
			w.cut(until, [][2]string{{a.name, b.name}})
		case 3:
			w.history.add("fault", "%s loses its lease", a.name)
			a.shared.Lose()
		case 7:
			n := 1 + w.rand.IntN(3)
			w.history.add("fault", "%d commits fail", n)
			w.store.FailCommits(n, errCommit)
		case 8, 9:
			long := min(time.Duration(w.rand.ExpFloat64()*float64(time.Second)), time.Until(until))
			w.history.add("fault", "the store stands still for %v", long.Round(time.Millisecond))
			time.AfterFunc(long, w.store.Hold())
		case 6:
			a.kill()
			time.AfterFunc(min(time.Duration(w.rand.ExpFloat64()*float64(2*time.Second)), time.Until(until)), func() {
				if err := a.restart(); err != nil {
					w.model.fail("restart", "node %s: %v", a.name, err)
				}
			})
		case 4, 5:
			w.give(b)
		}
	}
}

// cut loses what goes over these links, for a while.
func (w *world) cut(until time.Time, links [][2]string) {
	long := min(time.Duration(w.rand.ExpFloat64()*float64(4*time.Second)), time.Until(until))
	for _, l := range links {
		w.history.add("fault", "the link from %s to %s is cut for %v", l[0], l[1], long.Round(time.Millisecond))
		w.net.Cut(l[0], l[1])
	}
	time.AfterFunc(long, func() {
		for _, l := range links {
			w.history.add("fault", "the link from %s to %s is whole", l[0], l[1])
			w.net.Mend(l[0], l[1])
		}
	})
}

// give lets the owner of the codelab give it to another node.
func (w *world) give(to *node) {
	for _, n := range w.nodes {
		s := n.server.Load()
		if s == nil || n == to {
			continue
		}
		for _, ws := range s.labs.Active() {
			if ws.ID() == w.lab && ws.Owns() {
				w.history.add("fault", "%s gives the codelab to %s", n.name, to.name)
				s.labs.GiveTo(ws, to.name)
				return
			}
		}
	}
}
