//go:build linux

package workshop

import (
	"fmt"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
)

// These are the delays after a request until a facilitator claims it, and until the facilitator
// resolves it.
const (
	claimAfter   = 2 * time.Second
	resolveAfter = 4 * time.Second
)

// helpLedger contains the help requests of the run. The loop owns it.
type helpLedger struct {
	requests map[string]*helpRequest // by id
	turn     int
}

// helpRequest is one request in the queue.
type helpRequest struct {
	claim, resolve  audit.Fate
	claimed, solved int // numbers of different events that anybody received
}

// helpState is the state of an attendee's own requests for help.
type helpState struct {
	open bool
	// asked is the number of requests, without those that were refused or certainly not sent. acked
	// is the number of acknowledged requests. seen is the number of their events that anybody
	// received.
	asked, acked, seen int
}

// askHelp lets an attendee without an open request ask for help.
func (c *crowd) askHelp(due time.Duration) {
	p := c.active()
	for range 64 {
		if p == nil || !p.help.open {
			break
		}
		p = c.active()
	}
	if p == nil || p.help.open {
		return
	}
	p.help.open = true
	p.help.asked++
	r := &api.Request{
		Method: "POST", Path: "/codelabs/" + c.lab.ID + "/help", Session: p.login,
		Body: fmt.Appendf(nil, `{"step_number":%d}`, max(p.progress.step, 1)),
	}
	c.request(opHelp, due, p, r, func(fate audit.Fate, _ *api.Answer, _ error) {
		switch fate {
		case audit.Acknowledged:
			p.help.acked++
		case audit.Unsent, audit.Refused:
			p.help.open = false
			p.help.asked--
		}
	})
}

// helpSeen handles the first receipt of an event of the help queue. A facilitator claims a new
// request, and then resolves it.
func (c *crowd) helpSeen(m *message, owner int) {
	if c.helping.requests == nil {
		c.helping.requests = map[string]*helpRequest{}
	}
	id := string(m.ID)
	h := c.helping.requests[id]
	if h == nil {
		h = &helpRequest{}
		c.helping.requests[id] = h
	}
	switch string(m.Type) {
	case "help_request":
		if owner >= 0 {
			c.people[owner].help.seen++
		}
		now := c.clock.Now()
		c.helping.turn++
		f := c.facilitator(c.helping.turn)
		// A facilitator does not resolve a request while the claim is in progress. Otherwise the
		// claim would arrive too late and be refused.
		resolve := func() {
			c.loop.Agenda.At(max(now+resolveAfter, c.clock.Now()), func(due time.Duration) {
				c.answerHelp(f, id, due, opResolve, "/resolve", &h.resolve, func() {})
			})
		}
		c.loop.Agenda.At(now+claimAfter, func(due time.Duration) { c.answerHelp(f, id, due, opClaim, "/claim", &h.claim, resolve) })
	case "help_claimed":
		h.claimed++
	case "help_resolved":
		h.solved++
		if owner >= 0 {
			c.people[owner].help.open = false
		}
	}
}

// answerHelp performs one action of a facilitator, stores its fate, and then calls then.
func (c *crowd) answerHelp(f *person, id string, due time.Duration, op operation, path string, fate *audit.Fate, then func()) {
	if c.closing {
		return
	}
	r := &api.Request{Method: "POST", Path: "/codelabs/" + c.lab.ID + "/help/" + id + path, Session: f.login}
	*fate = audit.Unanswered
	c.request(op, due, f, r, func(got audit.Fate, _ *api.Answer, _ error) {
		*fate = got
		then()
	})
}
