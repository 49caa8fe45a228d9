package calls

import (
	"sync/atomic"

	"atelier/actors/durable"
)

// Gate counts the calls in progress, so that Close can wait for them. Otherwise a call in progress
// could find files unmapped, or connections closed.
type Gate struct {
	inside atomic.Int64
	closed atomic.Bool
	empty  chan struct{} // receives a value when the last call leaves a closed gate
}

// NewGate returns an open gate.
func NewGate() *Gate { return &Gate{empty: make(chan struct{}, 1)} }

// Enter admits a call, which must call Leave, or returns durable.ErrClosed.
func (g *Gate) Enter() error {
	g.inside.Add(1)
	// The call is counted before the check, so that Wait cannot find an empty gate while a call
	// enters.
	if g.closed.Load() {
		g.Leave()
		return durable.ErrClosed
	}
	return nil
}

// Leave ends a call.
func (g *Gate) Leave() {
	if g.inside.Add(-1) == 0 && g.closed.Load() {
		select {
		case g.empty <- struct{}{}:
		default:
		}
	}
}

// Close refuses further calls.
func (g *Gate) Close() { g.closed.Store(true) }

// Wait returns when the last call has left a closed gate.
func (g *Gate) Wait() {
	for g.inside.Load() != 0 {
		<-g.empty
	}
}
