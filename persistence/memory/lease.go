package memory

import (
	"time"

	"atelier/actors/durable"
)

// lease is one incarnation of a node, as seen by the node. Guarded by the database's mu.
type lease struct {
	incarnation uint64
	// renewed is the time of the last successful renewal, by the node's clock.
	renewed time.Duration
	over    bool
	lost    chan struct{}
	timer   func() bool // stops the next renewal
}

// enter begins the next incarnation.
func (n *Node) enter() {
	m := n.content.members[n.name]
	if m == nil {
		m = &member{}
		n.content.members[n.name] = m
	}
	m.incarnation++
	m.since, m.stopped = time.Now(), false
	n.lease = &lease{incarnation: m.incarnation, lost: make(chan struct{})}
	n.renewed(n.lease)
	n.changed.Broadcast()
}

// renewed records a successful renewal, and schedules the next.
func (n *Node) renewed(l *lease) {
	l.renewed = n.opts.Uptime()
	if n.opts.Lease == 0 {
		n.content.members[n.name].until = time.Time{}
		return
	}
	n.content.members[n.name].until = time.Now().Add(n.opts.Lease)
	n.renewIn(l, n.opts.Lease/3)
}

func (n *Node) renewIn(l *lease, wait time.Duration) {
	l.timer = n.opts.AfterFunc(wait, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		switch {
		case l != n.lease || !n.holds():
		case n.cut > 0 || n.stopped > 0:
			n.renewIn(l, n.opts.Lease/12)
		case !n.counted():
			n.lose()
		default:
			n.renewed(l)
		}
	})
}

// limit returns the time for which a node uses its lease after a renewal.
func (n *Node) limit() time.Duration { return n.opts.Lease * 2 / 3 }

// holds reports whether the lease is valid by the node's own clock.
func (n *Node) holds() bool {
	if l := n.lease; !l.over && n.opts.Lease > 0 && n.opts.Uptime()-l.renewed >= n.limit() {
		n.lose()
	}
	return !n.lease.over
}

// counted reports whether the lease is valid by the database's clock.
func (n *Node) counted() bool {
	m := n.content.members[n.name]
	return m.alive() && m.incarnation == n.lease.incarnation
}

func (n *Node) lose() {
	if l := n.lease; !l.over {
		l.over = true
		close(l.lost)
		if l.timer != nil {
			l.timer()
		}
		n.changed.Broadcast()
	}
}

// Holds implements durable.Shared.
func (n *Node) Holds() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.holds()
}

// Lost implements durable.Shared.
func (n *Node) Lost() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lease.lost
}

// away reports whether the node's calls are blocked by Cut or Stop.
func (n *Node) away() bool { return !n.gone && (n.stopped > 0 || n.cut > 0 && n.holds()) }

// reach waits until the database can be reached. It returns an error if the lease is lost, or if
// the node has ended.
func (n *Node) reach() error {
	for n.away() {
		n.changed.Wait()
	}
	switch {
	case n.gone:
		return durable.ErrClosed
	case !n.holds():
		return durable.ErrFenced
	case !n.counted():
		n.lose()
		return durable.ErrFenced
	}
	return nil
}

// answered returns the result of an entry if the node can still receive it. Otherwise it returns an
// error that does not show whether the entry was applied.
func (n *Node) answered(err error) error {
	for n.away() {
		n.changed.Wait()
	}
	switch {
	case n.gone:
		return durable.ErrClosed
	case !n.holds():
		return durable.ErrFenced
	}
	return err
}
