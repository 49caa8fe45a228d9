//go:build linux

package workshop

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// walk is how the attendees go through the steps: in a drawn order, one after
// the other, so that each is due once in Config.StepEvery. Owned by the loop.
type walk struct {
	order []int
	turn  int
	sent  int
}

// progress is what one attendee has done.
type progress struct {
	step     int // last sent; 0 before the first
	backward bool

	sent, acked, refused int
	// seen counts the events that reached anybody.
	seen int
	// last and furthest of the acknowledged steps. The last is the one that was
	// sent last, whose order is its place among all: acknowledgements may overtake
	// each other.
	last, order, furthest int
	// doubtful steps were said again out of their turn: nobody knows what was
	// applied after what.
	doubtful []int
}

// ack notes that a step was acknowledged, which was sent in this order; again
// says that it was said again.
func (p *progress) ack(step, order int, again bool) {
	p.acked++
	p.furthest = max(p.furthest, step)
	if again && !slices.Contains(p.doubtful, step) {
		p.doubtful = append(p.doubtful, step)
	}
	if order > p.order {
		p.last, p.order = step, order
	}
}

// next goes up to the last step and back again, so that every message changes
// something.
func (p *progress) next(steps int) int {
	at := max(p.step, 1)
	switch {
	case steps == 1:
		return 1
	case at >= steps:
		p.backward = true
	case at <= 1:
		p.backward = false
	}
	if p.backward {
		return at - 1
	}
	return at + 1
}

// step sends one step of the next attendee.
func (c *crowd) step(due time.Duration) {
	p := c.people[c.walk.order[c.walk.turn%len(c.walk.order)]]
	c.walk.turn++
	if p.stalled || !p.joined() {
		return
	}
	p.progress.step = p.progress.next(len(c.lab.Steps))
	p.progress.sent++
	c.walk.sent++
	ref := "p" + strconv.Itoa(c.walk.sent)
	payload := fmt.Appendf(nil, `{"type":"step_progress","ref":%q,"step_number":%d}`, ref, p.progress.step)
	p.send(pending{ref: ref, payload: payload, due: due, op: opProgress, number: p.progress.step, order: c.walk.sent})
}
