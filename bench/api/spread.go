package api

import (
	"net/http"
	"time"
)

// Spread is a client for several nodes of one service. If one node cannot respond, Spread tries
// another node. With one node it behaves like a Client and repeats nothing. It is safe for
// concurrent use.
type Spread struct {
	nodes []*Client
}

// NewSpread returns a client for the nodes of these clients.
func NewSpread(nodes ...*Client) *Spread { return &Spread{nodes} }

// Size returns the number of nodes.
func (s *Spread) Size() int { return len(s.nodes) }

// Node returns the client of a node, counted from 0, modulo the number of nodes.
func (s *Spread) Node(n int) *Client { return s.nodes[n%len(s.nodes)] }

// Close closes the idle connections to all nodes.
func (s *Spread) Close() {
	for _, c := range s.nodes {
		c.Close()
	}
}

// Limits of retries: their number, and the time after which no retry begins. The pause before a
// retry is a power of two times pauseFirst, and at most pauseLongest.
const (
	repeats      = 60
	repeatWithin = 30 * time.Second
	pauseFirst   = 50 * time.Millisecond
	pauseLongest = time.Second
)

// Trip records the last node and the retries of a request.
type Trip struct {
	// Node is the node that was tried last; Repeated is the number of retries.
	Node, Repeated int
}

// Do sends a request to a node. If the request certainly did not arrive, Do retries it at the next
// node. Without a response, or after a 503, Do retries only idempotent requests. After too many
// retries, or too long a time, it returns the last response or error.
func (s *Spread) Do(at int, r *Request) (*Answer, Trip, error) {
	began := time.Now()
	t := Trip{Node: at % len(s.nodes)}
	for {
		a, err := s.nodes[t.Node].Do(r)
		if len(s.nodes) == 1 || !again(r, a, err) || t.Repeated >= repeats || time.Since(began) > repeatWithin {
			return a, t, err
		}
		// Each of the other nodes is first tried without a pause, because it is probably available.
		if t.Repeated >= len(s.nodes)-1 {
			time.Sleep(min(pauseFirst<<min(t.Repeated, 10), pauseLongest))
		}
		t.Repeated++
		t.Node = (t.Node + 1) % len(s.nodes)
	}
}

// again reports whether to try another node. A request that was answered with 503 may have been
// applied, because the answering node may have lost its connection to the node that applied it.
func again(r *Request, a *Answer, err error) bool {
	switch {
	case Unsent(err):
		return true
	case err == nil && a.Status != http.StatusServiceUnavailable:
		return false
	}
	return r.Again || r.Method == http.MethodGet || r.Method == http.MethodHead
}
