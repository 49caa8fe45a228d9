package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"atelier/actors/durable"
)

// NodeOptions are the options of a Node.
type NodeOptions struct {
	// Lease is the time for which the database considers the node alive after each renewal. The
	// node itself relies on two thirds of that time, by its own clock. A lease of 0 never expires.
	Lease time.Duration
	// Uptime is the node's clock, and AfterFunc starts its timers. The defaults use package time.
	Uptime    func() time.Duration
	AfterFunc func(time.Duration, func()) (stop func() bool)
	// Latency is the duration of each commit. Answer is the time until the commit's answer arrives.
	// nil means that it takes no time.
	Latency, Answer func() time.Duration
}

func (o NodeOptions) withDefaults() NodeOptions {
	if o.Uptime == nil {
		start := time.Now() // inside a synctest bubble this is the bubble's time
		o.Uptime = func() time.Duration { return time.Since(start) }
	}
	if o.AfterFunc == nil {
		o.AfterFunc = func(d time.Duration, fn func()) func() bool { return time.AfterFunc(d, fn).Stop }
	}
	return o
}

// Node is one process on a Database: a durable.Shared.
type Node struct {
	*Store
	db   *Database
	name string
	opts NodeOptions

	// Guarded by the database's mu.
	lease   *lease
	cut     int  // number of Cuts that are not repaired
	stopped int  // number of Stops that are not ended
	gone    bool // killed, or closed
	feeds   []*feed
}

var _ durable.Shared = (*Node)(nil)

// owns reports whether, according to the database, this node owns the actor through this handle.
func (n *Node) owns(l *handle) bool {
	o := n.content.owners[l.actor]
	return o.node == n.name && o.incarnation == n.lease.incarnation && o.epoch == l.epoch
}

// takeLog makes this node the owner of an actor, with a new epoch.
func (n *Node) takeLog(actor string) (epoch uint64, err error) {
	o := n.content.owners[actor]
	if n.content.lives(o) && o.node != n.name {
		return 0, &durable.Owned{Actor: actor, Node: o.node}
	}
	n.content.epochs++
	n.content.owners[actor] = owner{n.name, n.lease.incarnation, n.content.epochs}
	return n.content.epochs, nil
}

func (n *Node) giveLog(l *handle) {
	if n.owns(l) {
		delete(n.content.owners, l.actor)
	}
}

// Node implements durable.Shared.
func (n *Node) Node() string { return n.name }

// Owner implements durable.Shared.
func (n *Node) Owner(actor string) (node string, err error) {
	err = n.withContent(func() {
		if o := n.content.owners[actor]; n.content.lives(o) {
			node = o.node
		}
	})
	return node, err
}

// Members implements durable.Shared.
func (n *Node) Members() (out []durable.Member, err error) {
	err = n.withContent(func() {
		for name, m := range n.content.members {
			one := durable.Member{Node: name, Incarnation: m.incarnation, Since: m.since, Stopped: m.stopped}
			switch {
			case !m.alive():
			case m.until.IsZero():
				one.Left = time.Hour
			default:
				one.Left = time.Until(m.until)
			}
			for _, o := range n.content.owners {
				if o.node == name && o.incarnation == m.incarnation {
					one.Owns++
				}
			}
			out = append(out, one)
		}
	})
	slices.SortFunc(out, func(a, b durable.Member) int { return strings.Compare(a.Node, b.Node) })
	return out, err
}

// Known implements durable.Shared. It returns all nodes ever started, because this store forgets
// none.
func (n *Node) Known() (names []string, err error) {
	err = n.withContent(func() { names = slices.Sorted(maps.Keys(n.content.members)) })
	return names, err
}

// Close implements durable.Store: it commits queued entries and releases everything. For a killed
// node it only ends the goroutines.
func (n *Node) Close() error {
	n.mu.Lock()
	feeds := slices.Clone(n.feeds)
	n.mu.Unlock()
	for _, f := range feeds {
		f.Close()
	}
	err := n.Store.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.holds() {
		n.content.members[n.name].stopped = true
		for actor, o := range n.content.owners {
			if o.node == n.name {
				delete(n.content.owners, actor)
			}
		}
	}
	n.leave()
	return err
}

// leave makes the node treat its lease as lost, and removes it from the list of running nodes.
func (n *Node) leave() {
	n.gone = true
	n.lose()
	n.db.nodes = slices.DeleteFunc(n.db.nodes, func(o *Node) bool { return o == n })
}

// Rejoin implements durable.Shared.
func (n *Node) Rejoin(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		n.mu.Lock()
		n.changed.Broadcast()
		n.mu.Unlock()
	})()
	n.lose()
	for n.cut > 0 || n.stopped > 0 {
		if n.gone {
			return durable.ErrClosed
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n.changed.Wait()
	}
	if n.gone {
		return durable.ErrClosed
	}
	n.enter()
	return nil
}
