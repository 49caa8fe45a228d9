//go:build linux

package workshop

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// walk schedules the attendees' steps. The attendees take a step one after another in random order,
// each once per Config.StepEvery. The loop owns it.
type walk struct {
	order []int
	turn  int
	sent  int
}

// progress is the progress of one attendee.
type progress struct {
	step     int // last sent; 0 before the first
	backward bool

	sent, acked, refused int
	// seen counts the events that anybody received.
	seen int
	// last and furthest are acknowledged steps. Of these, last was sent last. order is its position
	// among all sent steps, because acknowledgements can overtake each other.
	last, order, furthest int
	// doubtful contains acknowledged steps that were sent again, so that the order in which the
	// server applied them is unknown.
	doubtful []int
}

// ack records the acknowledgement of a step with its order. again means that the step was repeated.
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

// next returns the next step. The steps go up to the last one and back down, so that every message
// causes a change.
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
