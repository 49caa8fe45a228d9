package simulation

import (
	"sync"
	"time"
)

// faults lets things go wrong until a time, then puts all right again.
func (w *world) faults(until time.Time, done *sync.WaitGroup) {
	defer done.Done()
	for len(w.nodes) > 1 {
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
		for b == a {
			b = w.nodes[w.rand.IntN(len(w.nodes))]
		}
		switch w.rand.IntN(6) {
		case 0, 1: // the link between two is cut
			w.cut(until, [][2]string{{a.name, b.name}, {b.name, a.name}})
		case 2: // in one direction
			w.cut(until, [][2]string{{a.name, b.name}})
		case 3:
			w.history.add("fault", "%s loses its lease", a.name)
			a.shared.Lose()
		case 4, 5:
			if hd := w.owner(); hd != nil && hd != b {
				if ws, err := hd.labs.Get(w.lab); err == nil {
					w.history.add("fault", "%s gives the codelab to %s", hd.name, b.name)
					hd.labs.GiveTo(ws, b.name)
				}
			}
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

// owner is the node that owns the codelab, or nil.
func (w *world) owner() *node {
	for _, n := range w.nodes {
		for _, ws := range n.labs.Active() {
			if ws.ID() == w.lab && ws.Owns() {
				return n
			}
		}
	}
	return nil
}
