package simulation

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

var errCommit = errors.New("simulated: the commit failed")

// fault is one kind of fault. begin starts the fault on node a, or between the nodes a and b. It
// returns a function that ends the fault, or nil if the fault ends without it. ok is false if the
// fault is impossible now.
type fault struct {
	name string
	// often is the fault's weight when a fault is drawn.
	often int
	begin func(w *world, a, b *node, draw *rand.Rand) (end func(), ok bool)
}

// faults lists all kinds of faults except contentFaults. A run over many seeds fails if one of
// these kinds never happened.
var faults []fault

func init() { // an initializer of faults would create an initialization cycle
	faults = []fault{
		{"cut a link", 3, func(w *world, a, b *node, _ *rand.Rand) (func(), bool) {
			there, back := w.net.cutLink(a.name, b.name), w.net.cutLink(b.name, a.name)
			return func() { there(); back() }, a != b
		}},
		{"cut a link in one direction", 2, func(w *world, a, b *node, _ *rand.Rand) (func(), bool) {
			return w.net.cutLink(a.name, b.name), a != b
		}},
		{"lose messages", 2, func(w *world, _, _ *node, _ *rand.Rand) (func(), bool) {
			return w.net.during(func(by int) { w.net.lossy += by }), len(w.nodes) > 1
		}},
		{"deliver replication messages twice", 1, func(w *world, _, _ *node, _ *rand.Rand) (func(), bool) {
			return w.net.during(func(by int) { w.net.twice += by }), len(w.nodes) > 1
		}},
		{"slow network", 1, func(w *world, _, _ *node, _ *rand.Rand) (func(), bool) {
			return w.net.during(func(by int) { w.net.slow += by }), len(w.nodes) > 1
		}},
		{"overflow the message queue of a node", 1, func(w *world, a, _ *node, _ *rand.Rand) (func(), bool) {
			return w.net.during(func(by int) { w.net.deaf[a.name] += by }), len(w.nodes) > 1
		}},
		{"lose a lease", 1, onServer(func(s *server, _ *rand.Rand) func() { s.store.Lose(); return nil })},
		{"cut a node from the store", 2, onServer(func(s *server, _ *rand.Rand) func() { return s.n.during(s.store.Cut()) })},
		{"pause a node", 2, onServer(func(s *server, _ *rand.Rand) func() {
			s.clock.Stop()
			return s.n.during(s.store.Stop(), s.n.w.net.Stop(s.n.name), s.clock.Continue)
		})},
		{"jump the clock", 1, onServer(func(s *server, draw *rand.Rand) func() {
			s.n.w.tokens.jumped.Store(true)
			s.clock.SetOffset(time.Duration((draw.Float64()*2 - 1) * float64(maxOffset)))
			return func() { s.clock.SetOffset(s.n.skew) }
		})},
		{"fail commits", 1, onServer(func(s *server, draw *rand.Rand) func() { s.store.FailCommits(1+draw.IntN(3), errCommit); return nil })},
		{"lose the response to a commit", 2, onServer(func(s *server, draw *rand.Rand) func() {
			s.store.LoseAnswer(errCommit, draw.IntN(2) == 0)
			return nil
		})},
		{"delay the responses to commits", 2, func(_ *world, a, _ *node, _ *rand.Rand) (func(), bool) {
			a.late.Add(1)
			return func() { a.late.Add(-1) }, true
		}},
		{"fill the disk", 1, onServer(func(s *server, _ *rand.Rand) func() {
			s.store.SetReadOnly(true)
			return func() { s.store.SetReadOnly(false) }
		})},
		{"fill the write queue of the store", 1, onServer(func(s *server, _ *rand.Rand) func() {
			s.store.SetFull(true)
			return func() { s.store.SetFull(false) }
		})},
		{"block the commits of all nodes", 2, func(w *world, _, _ *node, _ *rand.Rand) (func(), bool) { return w.store.Hold(), true }},
		{"kill a node", 2, func(w *world, a, _ *node, _ *rand.Rand) (func(), bool) {
			a.kill()
			return a.restart, true
		}},
		{"shut a node down", 1, func(w *world, a, _ *node, _ *rand.Rand) (func(), bool) {
			_ = a.close() // fails if the lease was lost meanwhile
			return a.restart, true
		}},
		{"move a codelab to another node", 2, handOver},
	}
}

// maxOffset is the largest temporary error of a node's time of day. maxSkew is the largest
// permanent error, just below the 2 s from which a node reports its clock (cmd/atelier/nodes).
const (
	maxOffset = 10 * time.Second
	maxSkew   = 1900 * time.Millisecond
)

// onServer returns the begin function of a fault that affects one running server. The fault is
// impossible while the node is down.
func onServer(begin func(*server, *rand.Rand) func()) func(*world, *node, *node, *rand.Rand) (func(), bool) {
	return func(_ *world, a, _ *node, draw *rand.Rand) (func(), bool) {
		s := a.server.Load()
		if s == nil {
			return nil, false
		}
		return begin(s, draw), true
	}
}

// handOver makes the owner of the codelab move it to another node.
func handOver(w *world, _, to *node, _ *rand.Rand) (func(), bool) {
	for _, n := range w.nodes {
		s := n.server.Load()
		if s == nil || n == to {
			continue
		}
		if ws, ok := s.labs.Peek(w.lab); ok && ws.Owns() {
			s.labs.GiveTo(ws, to.name)
			return nil, true
		}
	}
	return nil, false
}

// disturb triggers faults from a list until the given time, and then ends all of them.
func (w *world) disturb(faults []fault, draw *rand.Rand, until time.Time) {
	total := 0
	for _, f := range faults {
		total += f.often
	}
	var ends sync.WaitGroup
	defer ends.Wait()
	for happened := 0; happened < w.plan.Faults; {
		// Everything is drawn before a fault that the plan excludes is skipped. A reduced plan
		// therefore draws the same faults afterwards.
		wait := time.Duration(draw.ExpFloat64() * float64(2*time.Second))
		long := time.Duration(draw.ExpFloat64() * float64(2*time.Second))
		if draw.IntN(3) == 0 { // short, so that some faults overlap
			wait /= 100
		}
		kind, i, j, own := draw.IntN(total), draw.IntN(1<<20), draw.IntN(1<<20), rand.New(rand.NewPCG(draw.Uint64(), 0))
		if !w.pause(min(wait, time.Until(until))) || !time.Now().Before(until) {
			return
		}
		f := faults[0]
		for _, f = range faults {
			if kind -= f.often; kind < 0 {
				break
			}
		}
		a, b := w.nodes[i%len(w.nodes)], w.nodes[j%len(w.nodes)]
		if slices.Contains(w.plan.Without, f.name) {
			continue
		}
		ends.Go(func() {
			end, ok := f.begin(w, a, b, own)
			if ok {
				w.history.count("fault", f.name)
				w.history.add("fault", a.name, "%s (%s), for %v", f.name, b.name, long.Round(time.Millisecond))
			}
			if end != nil {
				time.Sleep(max(0, min(long, time.Until(until))))
				end()
				if ok {
					w.history.add("fault", a.name, "%s: has ended", f.name)
				}
			}
		})
		happened++
	}
}
