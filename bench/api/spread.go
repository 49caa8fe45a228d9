package api

import (
	"net/http"
	"time"
)

// Spread is a client of several nodes of one service: what one of them cannot
// answer, another is asked. With one node it is a Client and repeats nothing.
// It may be used from any goroutine.
type Spread struct {
	nodes []*Client
}

// Endpoint is the address of one node, as in New.
type Endpoint struct{ URL, Via string }

// NewSpread returns a client of all these nodes.
func NewSpread(endpoints []Endpoint, timeout time.Duration) (*Spread, error) {
	s := &Spread{}
	for _, d := range endpoints {
		c, err := New(d.URL, d.Via, timeout)
		if err != nil {
			return nil, err
		}
		s.nodes = append(s.nodes, c)
	}
	return s, nil
}

// Size is the number of nodes.
func (s *Spread) Size() int { return len(s.nodes) }

// Node is the client of one of them, counted from 0 and round again.
func (s *Spread) Node(n int) *Client { return s.nodes[n%len(s.nodes)] }

// Close drops idle connections.
func (s *Spread) Close() {
	for _, c := range s.nodes {
		c.Close()
	}
}

// Bounds of repeating.
const (
	repeats      = 60
	repeatWithin = 30 * time.Second
	pauseFirst   = 50 * time.Millisecond
	pauseLongest = time.Second
)

// Trip records the nodes of a request.
type Trip struct {
	// Node answered last; Repeated is how often the request was made again.
	Node, Repeated int
}

// Do makes a request at a node. One that certainly did not arrive is made again
// at the next; so is one that got no answer, or 503, if it may be repeated. After
// some time the last answer, or error, is given back.
func (s *Spread) Do(at int, r *Request) (*Answer, Trip, error) {
	began := time.Now()
	t := Trip{Node: at % len(s.nodes)}
	for {
		a, err := s.nodes[t.Node].Do(r)
		if len(s.nodes) == 1 || !again(r, a, err) || t.Repeated >= repeats || time.Since(began) > repeatWithin {
			return a, t, err
		}
		// The first turn is quick: another node is likely to be well.
		if t.Repeated >= len(s.nodes)-1 {
			time.Sleep(min(pauseFirst<<min(t.Repeated, 10), pauseLongest))
		}
		t.Repeated++
		t.Node = (t.Node + 1) % len(s.nodes)
	}
}

// again reports whether another node may be asked. A request that got 503 may
// have been applied: the answering node may have lost its connection to the
// node that applied it.
func again(r *Request, a *Answer, err error) bool {
	switch {
	case Unsent(err):
		return true
	case err == nil && a.Status != http.StatusServiceUnavailable:
		return false
	}
	return r.Again || r.Method == http.MethodGet || r.Method == http.MethodHead
}
