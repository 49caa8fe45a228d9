// Package bustest is a durable.Bus within a process, whose links a test can cut,
// and the suite that every bus must pass.
package bustest

import (
	"slices"
	"sync"
	"time"

	"atelier/actors/durable"
)

// Net is a network of nodes within a process.
type Net struct {
	mu    sync.Mutex
	nodes map[string]*node
	cut   map[[2]string]bool // guarded by mu; from, to
}

type node struct {
	net    *Net
	name   string
	serves map[string]func(from string, data []byte, answer func([]byte)) // guarded by net.mu
	hears  map[string][]*listener                                         // guarded by net.mu
	work   chan func()
	done   chan struct{}
}

type listener struct {
	fn func(from string, data []byte)
}

// NewNet returns a network without nodes.
func NewNet() *Net { return &Net{nodes: map[string]*node{}, cut: map[[2]string]bool{}} }

// Node returns the bus of a node; stop takes it off the network.
func (n *Net) Node(name string) (bus durable.Bus, stop func()) {
	nd := &node{
		net: n, name: name, serves: map[string]func(string, []byte, func([]byte)){}, hears: map[string][]*listener{},
		work: make(chan func(), 1<<16), done: make(chan struct{}),
	}
	n.mu.Lock()
	n.nodes[name] = nd
	n.mu.Unlock()
	go nd.run()
	return nd, sync.OnceFunc(func() {
		n.mu.Lock()
		if n.nodes[name] == nd {
			delete(n.nodes, name)
		}
		n.mu.Unlock()
		close(nd.done)
	})
}

// Cut loses what goes from one node to another from now on, Mend ends that.
func (n *Net) Cut(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[[2]string{from, to}] = true
}

// Mend ends a Cut.
func (n *Net) Mend(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.cut, [2]string{from, to})
}

func (nd *node) run() {
	for {
		select {
		case fn := <-nd.work:
			fn()
		case <-nd.done:
			return
		}
	}
}

func (nd *node) do(fn func()) {
	select {
	case nd.work <- fn:
	case <-nd.done:
	}
}

// reach returns a node, if the link to it is whole.
func (n *Net) reach(from, to string) (nd *node, there bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	nd = n.nodes[to]
	if n.cut[[2]string{from, to}] {
		return nil, nd != nil
	}
	return nd, nd != nil
}

// Request implements durable.Bus.
func (nd *node) Request(to, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	var once sync.Once
	end := func(b []byte, err error) { once.Do(func() { nd.do(func() { done(b, err) }) }) }
	other, there := nd.net.reach(nd.name, to)
	if !there || len(data) > durable.MaxMessage {
		end(nil, durable.ErrNobody)
		return
	}
	time.AfterFunc(timeout, func() { end(nil, durable.ErrTimeout) })
	if other == nil {
		return
	}
	nd.net.mu.Lock()
	fn := other.serves[subject]
	nd.net.mu.Unlock()
	if fn == nil {
		end(nil, durable.ErrNobody)
		return
	}
	data = slices.Clone(data)
	other.do(func() {
		fn(nd.name, data, func(answer []byte) {
			if back, _ := nd.net.reach(to, nd.name); back == nd {
				end(slices.Clone(answer), nil)
			}
		})
	})
}

// Serve implements durable.Bus.
func (nd *node) Serve(subject string, fn func(from string, data []byte, answer func([]byte))) (func(), error) {
	nd.net.mu.Lock()
	defer nd.net.mu.Unlock()
	nd.serves[subject] = fn
	return func() {
		nd.net.mu.Lock()
		defer nd.net.mu.Unlock()
		delete(nd.serves, subject)
	}, nil
}

// Publish implements durable.Bus.
func (nd *node) Publish(subject string, data []byte) error {
	data = slices.Clone(data)
	n := nd.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, other := range n.nodes {
		if other == nd || n.cut[[2]string{nd.name, name}] {
			continue
		}
		for _, l := range other.hears[subject] {
			other.do(func() { l.fn(nd.name, data) })
		}
	}
	return nil
}

// Listen implements durable.Bus.
func (nd *node) Listen(subject string, fn func(from string, data []byte)) (func(), error) {
	l := &listener{fn}
	nd.net.mu.Lock()
	defer nd.net.mu.Unlock()
	nd.hears[subject] = append(nd.hears[subject], l)
	return func() {
		nd.net.mu.Lock()
		defer nd.net.mu.Unlock()
		nd.hears[subject] = slices.DeleteFunc(nd.hears[subject], func(o *listener) bool { return o == l })
	}, nil
}
