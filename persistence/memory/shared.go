package memory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"atelier/actors/durable"
)

// Database is a store that several nodes use: each through a Node of its own,
// with a queue, a lease and faults of its own.
type Database struct {
	mu      sync.Mutex
	content *content
	nodes   []*Node // guarded by mu; those that were started and not closed
}

// member is what the database knows of a node. Guarded by the database's mu.
type member struct {
	incarnation uint64
	until       time.Time // when the lease expires; zero if never
	since       time.Time
	stopped     bool // in order
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

// NewDatabase returns an empty one.
func NewDatabase() *Database { return &Database{content: newContent()} }

// Share returns an empty database and n nodes on it, named n1, n2 and so on, whose
// leases end only when a test ends them.
func Share(n int) (*Database, []*Node) {
	d := NewDatabase()
	var nodes []*Node
	for i := range n {
		node, err := d.Start(context.Background(), fmt.Sprint("n", i+1), NodeOptions{})
		if err != nil { // nobody has the name
			panic(err)
		}
		nodes = append(nodes, node)
	}
	return d, nodes
}

// Start opens the database as a node. While the lease of an earlier process of this
// name holds it waits for its end.
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
			return nil, fmt.Errorf("memory: node %s is there already", name)
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

// Each calls fn for every node that is there.
func (d *Database) each(fn func(*Node)) {
	d.mu.Lock()
	nodes := append([]*Node{}, d.nodes...)
	d.mu.Unlock()
	for _, n := range nodes {
		fn(n)
	}
}

// Hold lets no node commit anything until release is called.
func (d *Database) Hold() (release func()) {
	var all []func()
	d.each(func(n *Node) { all = append(all, n.Hold()) })
	return func() {
		for _, release := range all {
			release()
		}
	}
}

// Queued returns how many batches wait on all nodes.
func (d *Database) Queued() (queued int) {
	d.each(func(n *Node) { queued += n.Queued() })
	return queued
}

// Committed calls fn for each batch of records before anybody else learns of it, and by
// which node. fn must not call the database.
func (d *Database) Committed(fn func(node, actor string, first uint64, records [][]byte)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.content.committed = fn
}

// Leases says for each node that was ever started whether the database counts on
// its lease, and of which incarnation it is.
func (d *Database) Lease(node string) (incarnation uint64, holds bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.content.members[node]
	if m == nil {
		return 0, false
	}
	return m.incarnation, m.alive()
}

// Owners returns the living owner of each actor.
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

// Look reads what is stored, past all nodes.
func (d *Database) Look(fn func(durable.Journal)) {
	s := open(d.content, &d.mu, nil)
	defer func() { _ = s.Close() }()
	fn(s)
}

// Close closes all nodes that are left.
func (d *Database) Close() error {
	d.each(func(n *Node) { _ = n.Close() })
	return nil
}

// lives reports whether an owner's lease holds.
func (c *content) lives(o owner) bool {
	m := c.members[o.node]
	return o.node != "" && m.alive() && m.incarnation == o.incarnation
}
