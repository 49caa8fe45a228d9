package bus

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"atelier/actors/durable"
)

// This file contains the handshake in which nodes exchange their sessions. Recorded messages of a
// session can be replayed, so a node accepts messages only from a session that proves that it is
// currently alive:
//
//	a asks b:     greet          for no session in particular
//	b answers a:  serial, token  from the session of b, to a question that only this session
//	                             of a asked; a now accepts b's messages with a higher serial
//	a asks b:     know, token    for the session of b
//	b answers a:  -              the token is the last one that b made for this session of a;
//	                             b now accepts the messages that a sends after "know"
//
// A node greets another node before its first request to that node, and after a message from an
// unknown session of that node. A session permanently replaces the earlier session of its node.

const (
	// greetSubject is the subject for greetings and for announcements of new sessions.
	greetSubject = "_greet"
	// greetTime bounds each of the two questions.
	greetTime = time.Second
	// greetPause is the minimum time after which a message of an unknown session makes this node
	// greet the other node again.
	greetPause = 20 * time.Millisecond
	// maxCandidates bounds the sessions with a token. The oldest session is removed first.
	maxCandidates = 256
	// maxWaiting and maxWaitingBytes bound, per node, the requests that wait for the end of a
	// greeting. Further requests end with ErrNobody.
	maxWaiting      = 4096
	maxWaitingBytes = durable.MaxMessage

	greetAsk  = 'g'
	greetKnow = 'k'
	tokenSize = 16
)

// peers contains the sessions of other nodes. It is safe for concurrent use, except the windows,
// which belong to the goroutine that handles messages.
type peers struct {
	mu         sync.Mutex
	known      map[string]*peer // by node
	candidates []candidate      // oldest first
	greetings  map[string]*greeting
}

// peer is an accepted session. Its cipher and session are immutable.
type peer struct {
	node    string
	session session
	aead    cipher.AEAD
	window  window // owned by the goroutine that handles messages
	ready   bool   // guarded by peers.mu: it accepts this node's session
}

// candidate is a session that was given a token.
type candidate struct {
	node    string
	session session
	token   [tokenSize]byte
}

// greeting is a handshake in progress, or a recent one.
type greeting struct {
	begun   time.Time
	under   bool // in progress
	waiting []waiting
	bytes   int
}

// waiting is a request for a node that is being greeted.
type waiting struct {
	number  uint64
	subject string
	data    []byte
}

func newPeers() peers {
	return peers{known: map[string]*peer{}, greetings: map[string]*greeting{}}
}

// session returns the peer if s is the accepted session of its node, or else nil.
func (p *peers) session(node []byte, s session) *peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[string(node)]; known != nil && known.session == s {
		return known
	}
	return nil
}

// admit makes a session its node's accepted session, for messages with a serial above floor. A
// session that is already accepted keeps its window.
func (p *peers) admit(node string, s session, aead cipher.AEAD, floor uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[node]; known == nil || known.session != s {
		p.known[node] = &peer{node: node, session: s, aead: aead, window: newWindow(floor)}
	}
}

// ready records that a session accepts this node's session, and returns the requests that waited
// for this.
func (p *peers) ready(node string, s session) (released []waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.known[node]
	if known == nil || known.session != s {
		return nil
	}
	known.ready = true
	if g := p.greetings[node]; g != nil {
		released, g.waiting, g.bytes, g.under = g.waiting, nil, 0, false
	}
	return released
}

// unready records that a session no longer accepts this node's session.
func (p *peers) unready(node string, s session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[node]; known != nil && known.session == s {
		known.ready = false
	}
}

// hold returns the session for requests to a node. ready reports whether that session accepts this
// node's session. If it does not, the request waits, and greet reports whether to greet the node.
// If too many requests wait, hold returns durable.ErrNobody.
func (p *peers) hold(node string, w waiting) (s session, ready, greet bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[node]; known != nil && known.ready {
		return known.session, true, false, nil
	}
	g := p.greeting(node)
	if len(g.waiting) >= maxWaiting || g.bytes+len(w.data) > maxWaitingBytes {
		return s, false, false, durable.ErrNobody
	}
	w.data = slices.Clone(w.data)
	g.waiting = append(g.waiting, w)
	g.bytes += len(w.data)
	greet = !g.under
	g.under, g.begun = true, time.Now()
	return s, false, greet, nil
}

func (p *peers) greeting(node string) *greeting {
	g := p.greetings[node]
	if g == nil {
		g = &greeting{}
		p.greetings[node] = g
	}
	return g
}

// stranger reports whether to greet a node after a message of an unknown session.
func (p *peers) stranger(node string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.greeting(node)
	if g.under || time.Since(g.begun) < greetPause {
		return false
	}
	g.under, g.begun = true, time.Now()
	return true
}

// over ends a failed greeting, and returns the requests that waited for it.
func (p *peers) over(node string) []waiting {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.greetings[node]
	if g == nil {
		return nil
	}
	all := g.waiting
	g.under, g.waiting, g.bytes = false, nil, 0
	return all
}

// offer creates a token for a session.
func (p *peers) offer(node string, s session) (token [tokenSize]byte) {
	_, _ = rand.Read(token[:]) // never fails
	p.mu.Lock()
	defer p.mu.Unlock()
	p.candidates = slices.DeleteFunc(p.candidates, func(c candidate) bool { return c.session == s })
	if len(p.candidates) >= maxCandidates {
		p.candidates = slices.Delete(p.candidates, 0, 1)
	}
	p.candidates = append(p.candidates, candidate{node, s, token})
	return token
}

// redeem takes a session's token. It returns false if the token is not the last one offered, or was
// already redeemed.
func (p *peers) redeem(node string, s session, token []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.candidates, func(c candidate) bool {
		return c.node == node && c.session == s && subtle.ConstantTimeCompare(c.token[:], token) == 1
	})
	if i < 0 {
		return false
	}
	p.candidates = slices.Delete(p.candidates, i, i+1)
	return true
}

// greet asks a node for its session, and announces this node's session.
func (b *Bus) greet(node string) {
	b.ask(node, greetSubject, session{}, []byte{greetAsk}, greetTime, func(o opened, err error) {
		if err == nil && len(o.data) != 8+tokenSize {
			err = durable.ErrNobody
		}
		if err != nil {
			b.greetingFailed(node, err)
			return
		}
		b.peers.admit(node, o.sender, o.aead, binary.BigEndian.Uint64(o.data))
		b.ask(node, greetSubject, o.sender, append([]byte{greetKnow}, o.data[8:]...), greetTime, func(_ opened, err error) {
			if err != nil {
				b.greetingFailed(node, err)
				return
			}
			b.release(node, o.sender)
		})
	})
}

// release sends the requests that waited for a session of a node.
func (b *Bus) release(node string, s session) {
	for _, w := range b.peers.ready(node, s) {
		if b.asks(w.number) { // otherwise the request has expired
			b.send(w.number, node, w.subject, s, w.data)
		}
	}
}

// greetingFailed ends the waiting requests if err is ErrNobody, because nobody listens or the
// answer is unusable. After any other error, each request continues to wait until its own timeout.
func (b *Bus) greetingFailed(node string, err error) {
	all := b.peers.over(node)
	if errors.Is(err, durable.ErrNobody) {
		for _, w := range all {
			b.end(w.number, opened{}, durable.ErrNobody)
		}
		return
	}
	for _, w := range all {
		if !b.asks(w.number) {
			continue
		}
		switch s, ready, greet, err := b.peers.hold(node, w); {
		case err != nil:
			b.end(w.number, opened{}, err)
		case ready: // a handshake that the other node began has completed
			b.send(w.number, node, w.subject, s, w.data)
		case greet:
			b.greet(node)
		}
	}
}

// greeted answers a greeting.
func (b *Bus) greeted(reply string, o opened) {
	answer := func(data []byte) {
		if err := b.publish(address{reply, "", o.sender}, kindData, data); err != nil {
			b.opts.Logger.Warn("answering another node failed", "node", o.from, "error", err)
		}
	}
	switch {
	case len(o.data) == 1 && o.data[0] == greetAsk:
		data := binary.BigEndian.AppendUint64(nil, b.seal.serial.Load())
		token := b.peers.offer(o.from, o.sender)
		answer(append(data, token[:]...))
	case len(o.data) > 0 && o.data[0] == greetKnow && o.receiver == b.seal.session:
		if !b.peers.redeem(o.from, o.sender, o.data[1:]) {
			b.reject(Replayed)
			return
		}
		// The sender accepted this node's session before it sent this message, so the waiting
		// requests can be sent.
		b.peers.admit(o.from, o.sender, o.aead, o.serial)
		answer(nil)
		b.release(o.from, o.sender)
	case len(o.data) > 0 && o.data[0] == greetKnow:
		b.reject(StaleReceiver)
	default:
		b.reject(Malformed)
	}
}
