package memory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"atelier/actors/durable"
)

// Database is a store that several nodes use. Each uses its own Node, which has its own queue,
// lease and faults.
type Database struct {
	mu      sync.Mutex
	content *content
	nodes   []*Node // guarded by mu; nodes started and not closed
}

// member is the database's data about a node. Guarded by the database's mu.
type member struct {
	incarnation uint64
	until       time.Time // expiry of the lease; zero if never
	since       time.Time
	stopped     bool // the node released its lease in an orderly shutdown
}

func (m *member) alive() bool {
	return m != nil && !m.stopped && (m.until.IsZero() || time.Now().Before(m.until))
}

// owner is the node that has the log of an actor open.
type owner struct {
	node        string
	incarnation uint64
	epoch       uint64
}

// NewDatabase returns an empty database.
func NewDatabase() *Database { return &Database{content: newContent()} }

// Share returns an empty database with n nodes, named n1, n2 and so on, whose leases end only if a
// test ends them.
func Share(n int) (*Database, []*Node) {
	d := NewDatabase()
	var nodes []*Node
	for i := range n {
		node, err := d.Start(context.Background(), fmt.Sprint("n", i+1), NodeOptions{})
		if err != nil { // cannot happen: the names are unused
			panic(err)
		}
		nodes = append(nodes, node)
	}
	return d, nodes
}

// Start opens the database as a node. It waits until the lease of an earlier process with this name
// has expired. It fails if that lease never expires, or if ctx ends first.
func (d *Database) Start(ctx context.Context, name string, o NodeOptions) (*Node, error) {
	n := &Node{db: d, name: name, opts: o.withDefaults()}
	for {
		d.mu.Lock()
		before := d.content.members[name]
		if !before.alive() {
			break
		}
		wait := time.Until(before.until)
		if before.until.IsZero() {
			d.mu.Unlock()
			return nil, fmt.Errorf("memory: node %s already runs", name)
		}
		d.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	n.Store = open(d.content, &d.mu, n)
	d.nodes = append(d.nodes, n)
	n.enter()
	d.mu.Unlock()
	return n, nil
}

// each calls fn for every node that was started and not closed.
func (d *Database) each(fn func(*Node)) {
	d.mu.Lock()
	nodes := append([]*Node{}, d.nodes...)
	d.mu.Unlock()
	for _, n := range nodes {
		fn(n)
	}
}

// Hold prevents all commits of the current nodes until release is called.
func (d *Database) Hold() (release func()) {
	var all []func()
	d.each(func(n *Node) { all = append(all, n.Hold()) })
	return func() {
		for _, release := range all {
			release()
		}
	}
}

// Queued returns the number of waiting items on all nodes.
func (d *Database) Queued() (queued int) {
	d.each(func(n *Node) { queued += n.Queued() })
	return queued
}

// Committed sets fn, which is called for each committed batch of records, with the node, before any
// node can read the batch. fn must not call the database.
func (d *Database) Committed(fn func(node, actor string, first uint64, records [][]byte)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.content.committed = fn
}

// Lease returns a node's incarnation, and whether its lease is valid by the database's clock.
func (d *Database) Lease(node string) (incarnation uint64, holds bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.content.members[node]
	if m == nil {
		return 0, false
	}
	return m.incarnation, m.alive()
}

// Owners returns the owner of each actor whose owner has a valid lease.
func (d *Database) Owners() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]string{}
	for actor, o := range d.content.owners {
		if d.content.lives(o) {
			out[actor] = o.node
		}
	}
	return out
}

// View calls fn with a journal that reads the stored data, bypassing all nodes.
func (d *Database) View(fn func(durable.Journal)) {
	s := open(d.content, &d.mu, nil)
	defer func() { _ = s.Close() }()
	fn(s)
}

// Close closes all remaining nodes.
func (d *Database) Close() error {
	d.each(func(n *Node) { _ = n.Close() })
	return nil
}

// lives reports whether an owner's lease is valid.
func (c *content) lives(o owner) bool {
	m := c.members[o.node]
	return o.node != "" && m.alive() && m.incarnation == o.incarnation
}
