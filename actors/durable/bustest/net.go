// Package bustest provides an in-process durable.Bus with a network that a test can disturb, and
// the conformance suite for every bus.
package bustest

import (
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/actors/durable"
)

// Net is an in-process network of nodes.
type Net struct {
	mu    sync.Mutex
	nodes map[string]*node
	cut   map[[2]string]bool // guarded by mu; from, to
	// fate returns the Fate of each message. If it is nil, all messages are delivered immediately.
	fate  func(Message) Fate // guarded by mu
	lines map[lineKey]*line  // guarded by mu
	// stopped contains the paused nodes, with the messages that wait until each resumes.
	stopped map[string]*waiting // guarded by mu
}

// Message is a message from one node to another.
type Message struct {
	From, To, Subject string
	Sort              Sort
	Data              []byte
}

// Sort is the kind of a message.
type Sort string

// Sorts of messages.
const (
	Question Sort = "question"
	Answer   Sort = "answer"
	News     Sort = "news"
)

// Fate determines what happens to a message. The zero value delivers the message immediately.
type Fate struct {
	Lost  bool
	Delay time.Duration
	// Twice delivers the message twice. This violates the contract of durable.Bus, but receivers of
	// published messages must tolerate it.
	Twice bool
}

// waiting contains the messages to and from a paused node, which continue when the node resumes.
type waiting struct{ in, out []func() }

type node struct {
	net       *Net
	name      string
	serves    map[string]func(from string, data []byte, answer func([]byte)) // guarded by net.mu
	listeners map[string][]*listener                                         // guarded by net.mu
	work      chan func()
	done      chan struct{}
}

type listener struct {
	fn func(from string, data []byte)
}

// NewNet returns a network without nodes.
func NewNet() *Net {
	return &Net{nodes: map[string]*node{}, cut: map[[2]string]bool{}, lines: map[lineKey]*line{}, stopped: map[string]*waiting{}}
}

// Node returns the bus of a node. stop removes the node from the network.
func (n *Net) Node(name string) (bus durable.Bus, stop func()) {
	nd := &node{
		net: n, name: name, serves: map[string]func(string, []byte, func([]byte)){}, listeners: map[string][]*listener{},
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

// Disturb sets the function that decides the fate of further messages.
func (n *Net) Disturb(fate func(Message) Fate) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fate = fate
}

// Cut drops all messages from one node to another, until Repair.
func (n *Net) Cut(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[[2]string{from, to}] = true
}

// Loses reports whether a Cut drops a request from one node to another, or its response.
func (n *Net) Loses(from, to string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut[[2]string{from, to}] || n.cut[[2]string{to, from}]
}

// Repair ends a Cut.
func (n *Net) Repair(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.cut, [2]string{from, to})
}

// Listens returns the subjects to which a node listens, in any order.
func (n *Net) Listens(name string) (subjects []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if nd := n.nodes[name]; nd != nil {
		for subject, listeners := range nd.listeners {
			if len(listeners) > 0 {
				subjects = append(subjects, subject)
			}
		}
	}
	return subjects
}

// Stop pauses a node: messages to and from it wait until goOn is called.
func (n *Net) Stop(name string) (goOn func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopped[name] != nil {
		return func() {}
	}
	n.stopped[name] = &waiting{}
	return sync.OnceFunc(func() {
		n.mu.Lock()
		w := n.stopped[name]
		delete(n.stopped, name)
		n.mu.Unlock()
		for _, fn := range slices.Concat(w.in, w.out) {
			fn()
		}
	})
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

// do runs fn on the node's goroutine, once the node is not paused.
func (nd *node) do(fn func()) {
	n := nd.net
	n.mu.Lock()
	if w := n.stopped[nd.name]; w != nil && n.nodes[nd.name] == nd {
		w.in = append(w.in, func() { nd.do(fn) })
		n.mu.Unlock()
		return
	}
	n.mu.Unlock()
	select {
	case nd.work <- fn:
	case <-nd.done:
	}
}

// send delivers a message to a node, where arrive receives it, or drops the message.
func (nd *node) send(to *node, m Message, arrive func()) {
	n := nd.net
	n.mu.Lock()
	if w := n.stopped[nd.name]; w != nil && n.nodes[nd.name] == nd {
		w.out = append(w.out, func() { nd.send(to, m, arrive) })
		n.mu.Unlock()
		return
	}
	cut, fate := n.cut[[2]string{m.From, m.To}], n.fate
	n.mu.Unlock()
	var f Fate
	if fate != nil {
		f = fate(m)
	}
	if cut || f.Lost {
		return
	}
	if fate == nil {
		to.do(arrive)
		return
	}
	n.mu.Lock()
	k := lineKey{m.From, m.To, m.Subject, m.Sort}
	l := n.lines[k]
	if l == nil {
		l = &line{}
		n.lines[k] = l
	}
	n.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	at := time.Now().Add(f.Delay)
	if !at.After(l.last) {
		at = l.last.Add(1)
	}
	l.last = at
	l.under = append(l.under, func() {
		to.do(arrive)
		if f.Twice {
			to.do(arrive)
		}
	})
	time.AfterFunc(time.Until(at), l.arrive)
}

// line contains the messages in flight from one node to another about one subject. They are
// delivered in order.
type line struct {
	mu    sync.Mutex
	last  time.Time // guarded by mu; when the newest arrives
	under []func()  // guarded by mu; in flight, oldest first
}

type lineKey struct {
	from, to, subject string
	sort              Sort
}

func (l *line) arrive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.under[0]
	l.under = l.under[1:]
	next()
}

// Request implements durable.Bus.
func (nd *node) Request(to, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	var once sync.Once
	end := func(b []byte, err error) { once.Do(func() { nd.do(func() { done(b, err) }) }) }
	n := nd.net
	n.mu.Lock()
	other := n.nodes[to]
	serves := other != nil && other.serves[subject] != nil
	cut := n.cut[[2]string{nd.name, to}]
	n.mu.Unlock()
	if other == nil || len(data) > durable.MaxMessage || !serves && !cut {
		end(nil, durable.ErrNobody)
		return
	}
	time.AfterFunc(timeout, func() { end(nil, durable.ErrTimeout) })
	data = slices.Clone(data)
	nd.send(other, Message{nd.name, to, subject, Question, data}, func() {
		n.mu.Lock()
		fn := other.serves[subject]
		n.mu.Unlock()
		if fn == nil {
			return
		}
		fn(nd.name, data, func(answer []byte) {
			answer = slices.Clone(answer)
			other.send(nd, Message{to, nd.name, subject, Answer, answer}, func() { end(answer, nil) })
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
	type recipient struct {
		node *node
		l    *listener
	}
	var all []recipient
	n.mu.Lock()
	for name, other := range n.nodes {
		if other != nd {
			for _, l := range other.listeners[subject] {
				all = append(all, recipient{n.nodes[name], l})
			}
		}
	}
	n.mu.Unlock()
	slices.SortStableFunc(all, func(a, b recipient) int { return strings.Compare(a.node.name, b.node.name) })
	for _, r := range all {
		nd.send(r.node, Message{nd.name, r.node.name, subject, News, data}, func() { r.l.fn(nd.name, data) })
	}
	return nil
}

// Listen implements durable.Bus.
func (nd *node) Listen(subject string, fn func(from string, data []byte)) (func(), error) {
	l := &listener{fn}
	nd.net.mu.Lock()
	defer nd.net.mu.Unlock()
	nd.listeners[subject] = append(nd.listeners[subject], l)
	return func() {
		nd.net.mu.Lock()
		defer nd.net.mu.Unlock()
		nd.listeners[subject] = slices.DeleteFunc(nd.listeners[subject], func(o *listener) bool { return o == l })
	}, nil
}
