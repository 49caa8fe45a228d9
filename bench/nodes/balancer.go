//go:build linux

package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"atelier/bench/pacing"
)

// Balancer forwards each connection to the ready node with the fewest connections. It forwards only
// bytes, and repeats no request. If a node dies, its clients lose their connections and decide
// which requests to repeat.
type Balancer struct {
	listener net.Listener
	client   http.Client
	ends     []func() // stop the probes
	done     sync.WaitGroup

	mu       sync.Mutex
	backends []backend // guarded by mu
}

// backend is the balancer's record of a node.
type backend struct {
	public, probe string // addresses; "" while the node is away
	ready         bool
	open          int
}

// The interval of the probes, and the timeouts of a probe and of connecting to a node.
const (
	probeEvery = 500 * time.Millisecond
	probeTime  = time.Second
	dialTime   = time.Second
)

// Balance listens on behalf of a number of nodes, none of which is available yet.
func Balance(listen string, nodes int) (*Balancer, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("balancer: %w", err)
	}
	b := &Balancer{listener: l, backends: make([]backend, nodes), client: http.Client{Timeout: probeTime}}
	b.done.Go(b.accept)
	for i := range nodes {
		b.ends = append(b.ends, pacing.Every(context.Background(), probeEvery, func() { b.probe(i) }))
	}
	return b, nil
}

// URL returns the balancer's address.
func (b *Balancer) URL() string { return "http://" + b.listener.Addr().String() }

// Put sets a node's public address and internal URL, and marks the node as ready.
func (b *Balancer) Put(node int, public, internal string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := &b.backends[node]
	d.public, d.probe, d.ready = public, internal+"/readyz", true
}

// Remove marks a node as unavailable.
func (b *Balancer) Remove(node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := &b.backends[node]
	d.public, d.probe, d.ready = "", "", false
}

// State reports whether a node is ready, and its number of connections.
func (b *Balancer) State(node int) (ready bool, open int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.backends[node].ready, b.backends[node].open
}

// Close stops the probes and the listener. Forwarded connections continue until their nodes end
// them.
func (b *Balancer) Close() {
	for _, end := range b.ends {
		end()
	}
	_ = b.listener.Close()
	b.done.Wait()
	b.client.CloseIdleConnections()
}

// probe requests a node's readiness and records it.
func (b *Balancer) probe(node int) {
	b.mu.Lock()
	at := b.backends[node].probe
	b.mu.Unlock()
	if at == "" {
		return
	}
	res, err := b.client.Get(at)
	if err == nil {
		_ = res.Body.Close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := &b.backends[node]; d.probe == at {
		d.ready = err == nil && res.StatusCode == http.StatusOK
	}
}

func (b *Balancer) accept() {
	for {
		conn, err := b.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(probeEvery) // for example, no descriptor is free
			continue
		}
		go b.lead(conn)
	}
}

// lead forwards a connection until the node ends it. A client that stops sending can still receive.
func (b *Balancer) lead(from net.Conn) {
	defer from.Close()
	to, node := b.dial()
	if to == nil {
		return
	}
	defer func() {
		_ = to.Close()
		b.mu.Lock()
		b.backends[node].open--
		b.mu.Unlock()
	}()
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite() // an answer can still arrive
	}()
	_, _ = io.Copy(from, to)
}

// dial connects to the ready node with the fewest connections. If this node does not answer, dial
// tries the next. It returns nil if none answers.
func (b *Balancer) dial() (net.Conn, int) {
	tried := map[int]bool{}
	for {
		node, address := b.choose(tried)
		if node < 0 {
			return nil, -1
		}
		conn, err := net.DialTimeout("tcp", address, dialTime)
		if err == nil {
			return conn, node
		}
		tried[node] = true
		b.mu.Lock()
		b.backends[node].open--
		b.backends[node].ready = false // until it answers a probe
		b.mu.Unlock()
	}
}

// choose selects, of the ready nodes not in tried, the one with the fewest connections, and counts
// a connection to it. It returns -1 if there is none.
func (b *Balancer) choose(tried map[int]bool) (node int, address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	node = -1
	for i := range b.backends {
		if d := &b.backends[i]; d.ready && !tried[i] && (node < 0 || d.open < b.backends[node].open) {
			node = i
		}
	}
	if node < 0 {
		return -1, ""
	}
	b.backends[node].open++
	return node, b.backends[node].public
}
