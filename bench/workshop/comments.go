//go:build linux

package workshop

import (
	"fmt"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
)

// Every appendEvery-th comment is added to an existing thread.
const appendEvery = 3

// commentLedger contains every inline comment of the run. The loop owns it.
type commentLedger struct {
	fates []audit.Fate
	// ranges lists, by number, the ranges with an acknowledged comment.
	ranges []int
	// events counts the comment events that anybody received.
	events int
	// hashes contains the hashes of the steps' contents.
	hashes []string
}

// annotate lets an attendee comment on a new range. Every third comment is on a range that already
// has a thread, if there is one.
func (c *crowd) annotate(due time.Duration) {
	p := c.active()
	if p == nil {
		return
	}
	l := &c.comment
	if l.hashes == nil {
		for _, step := range c.lab.Steps {
			l.hashes = append(l.hashes, contentHash(step.Content))
		}
	}
	n := len(l.fates)
	l.fates = append(l.fates, audit.Unanswered)
	place := n
	if n%appendEvery == appendEvery-1 && len(l.ranges) > 0 {
		place = l.ranges[c.rng.IntN(len(l.ranges))]
	}
	step := place % len(c.lab.Steps)
	// Ranges are two apart and one wide, so they overlap only if they are equal.
	start := place * 2
	anchor := fmt.Sprintf("step|%s|%s|%d|%d", c.lab.Steps[step].ID, l.hashes[step], start, start+1)
	body := fmt.Appendf(nil,
		`{"anchor_key":%q,"target_type":"step","target_step_id":%q,"start_offset":%d,"end_offset":%d,"selected_text":"x","content_hash":%q,"message":"%s%d what does this mean?"}`,
		anchor, c.lab.Steps[step].ID, start, start+1, l.hashes[step], c.chat.marker, n)
	r := &api.Request{Method: "POST", Path: "/codelabs/" + c.lab.ID + "/inline-comments", Session: p.login, Body: body}
	c.request(opComment, due, p, r, func(fate audit.Fate, _ *api.Answer, _ error) {
		l.fates[n] = fate
		if fate == audit.Acknowledged && place == n {
			l.ranges = append(l.ranges, place)
		}
	})
}
