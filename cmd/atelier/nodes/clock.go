package nodes

import (
	"fmt"
	"time"

	"atelier/actors/durable"
)

const (
	// Operators are informed about a node if its clock differs from the database's clock by at
	// least warnOffset. If the difference reaches wrongOffset, the node stops serving while another
	// living node has a right clock.
	warnOffset, wrongOffset = 2 * time.Second, 30 * time.Second
)

// clocked is a store that compares this node's clock with the database's clock.
type clocked interface {
	// ClockOffset returns the database's time minus this node's time. known is false if the clocks
	// were not compared, or if the comparison took too long.
	ClockOffset() (offset time.Duration, known bool)
}

// ClockOffset returns how far the database's clock is ahead of this node's clock. known is false if
// the difference is unknown, or if the Node is nil.
func (n *Node) ClockOffset() (offset time.Duration, known bool) {
	if n == nil {
		return 0, false
	}
	c, ok := n.Store.(clocked)
	if !ok {
		return 0, false
	}
	return c.ClockOffset()
}

// OwnersTime converts the current time to the clock of an owner, as far as the difference is known.
// The result is compared with times that the owner has set.
func (n *Node) OwnersTime(owner string, now time.Time) time.Time {
	if n == nil || owner == "" || owner == n.Store.Node() {
		return now
	}
	own, known := n.ClockOffset()
	if theirs, reported := n.figuresOf(owner).offset(); known && reported {
		return now.Add(own - theirs)
	}
	return now
}

// millisOf returns this node's offset in milliseconds, for Figures, or nil if the offset is
// unknown.
func (n *Node) millisOf() *int64 {
	offset, known := n.ClockOffset()
	if !known {
		return nil
	}
	ms := offset.Round(time.Millisecond).Milliseconds()
	return &ms
}

// offset returns the database's time minus a node's time. known is false if the node has not
// reported its offset.
func (f *Figures) offset() (offset time.Duration, known bool) {
	if f == nil || f.ClockMillis == nil {
		return 0, false
	}
	return time.Duration(*f.ClockMillis) * time.Millisecond, true
}

// lookAtClock logs a wrong clock of this node, and decides whether the node therefore stops
// serving. It stops only if another living node has a right clock. If no node has one, the
// database's clock can be the wrong one.
func (n *Node) lookAtClock(members []durable.Member) {
	offset, _ := n.figures.Load().offset()
	if warned := n.clockWarned; !warned && offset.Abs() >= warnOffset {
		n.clockWarned = true
		n.log.Warn("this node's clock differs from the database's; check its time synchronisation", "clock", wordsOf(offset))
	} else if warned && offset.Abs() < warnOffset/2 {
		n.clockWarned = false
	}
	var t *Trouble
	if offset.Abs() >= wrongOffset {
		for _, m := range members {
			if theirs, known := n.figuresOf(m.Node).offset(); m.Left > 0 && m.Node != n.Store.Node() && known && theirs.Abs() < wrongOffset {
				t = &Trouble{Clock, "this server's clock is " + wordsOf(offset) + " the database's"}
			}
		}
	}
	n.clockTrouble.Store(t)
}

// wordsOf describes a clock offset, which is the database's time minus this node's time.
func wordsOf(offset time.Duration) string {
	if offset < 0 {
		return fmt.Sprintf("%.1f s ahead of", -offset.Seconds())
	}
	return fmt.Sprintf("%.1f s behind", offset.Seconds())
}

// clockProblems lists the living nodes with clocks that differ from the database's clock by at
// least warnOffset. If all of several known clocks differ, the list ends with the advice to check
// the database's clock.
func clockProblems(all []NodeStatus) (problems []string) {
	off, known := 0, 0
	for _, m := range all {
		offset, reported := m.Figures.offset()
		if !m.Alive || !reported {
			continue
		}
		known++
		if offset.Abs() >= warnOffset {
			off++
			problems = append(problems, fmt.Sprintf("the clock of node %s is %s the database's", m.Node, wordsOf(offset)))
		}
	}
	if off > 1 && off == known {
		problems = append(problems, "no node agrees with the database's clock: check the database's clock first")
	}
	return problems
}
