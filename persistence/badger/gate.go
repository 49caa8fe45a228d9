package badger

import (
	"sync/atomic"

	"atelier/actors/durable"
)

// gate counts the calls that are inside the store, so that Close can wait for
// them: Badger unmaps its files, and a reader left inside would fault.
type gate struct {
	inside atomic.Int64
	closed atomic.Bool
	empty  chan struct{} // receives when the last call leaves a closed gate
}

func newGate() *gate { return &gate{empty: make(chan struct{}, 1)} }

// enter admits a call, which must leave again, or gives durable.ErrClosed.
func (g *gate) enter() error {
	g.inside.Add(1)
	// Counting first and looking second leaves no moment in which close sees
	// an empty gate and a call slips in behind it.
	if g.closed.Load() {
		g.leave()
		return durable.ErrClosed
	}
	return nil
}

func (g *gate) leave() {
	if g.inside.Add(-1) == 0 && g.closed.Load() {
		select {
		case g.empty <- struct{}{}:
		default:
		}
	}
}

// close refuses further calls.
func (g *gate) close() { g.closed.Store(true) }

// wait returns when the last call has left a closed gate.
func (g *gate) wait() {
	for g.inside.Load() != 0 {
		<-g.empty
	}
}
