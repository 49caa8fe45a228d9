//go:build linux

package workshop

import (
	"fmt"
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
	// last and furthest of the acknowledged steps.
	last, furthest int
}

func (p *progress) ack(step int) {
	p.acked++
	p.last, p.furthest = step, max(p.furthest, step)
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
	p.send(pending{ref: ref, payload: payload, due: due, op: opProgress, number: p.progress.step})
}
