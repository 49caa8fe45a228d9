//go:build linux

package workshop

import (
	"errors"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/pacing"
	"atelier/bench/sockets"
)

// load plans everything between the join and the end, starting at a given time.
func (c *crowd) load(start time.Duration) {
	c.from = start + c.cfg.Warmup
	c.until = c.from + c.cfg.Duration
	stepsPerSecond := 0.0
	if c.cfg.StepEvery > 0 {
		stepsPerSecond = float64(c.cfg.Attendees) / c.cfg.StepEvery.Seconds()
	}
	stream := func(perSecond float64, do func(due time.Duration)) {
		c.loop.Agenda.Stream(start, c.cfg.pacer(perSecond, c.rng), func(due time.Duration) {
			if !c.over {
				do(due)
			}
		})
	}
	stream(c.cfg.Chat, func(due time.Duration) {
		if p := c.active(); p != nil {
			c.sendChat(p, due)
			c.sent(opChat, due, c.clock.Now())
		}
	})
	stream(stepsPerSecond, func(due time.Duration) {
		c.step(due)
		c.sent(opProgress, due, c.clock.Now())
	})
	stream(c.cfg.Help, c.askHelp)
	stream(c.cfg.Comments, c.annotate)
	stream(c.cfg.Churn, func(time.Duration) { c.leave() })
	stream(c.cfg.FacilitatorReads, c.readLists)
	if c.cfg.BurstEvery > 0 {
		c.loop.Agenda.Stream(start+c.cfg.BurstEvery, pacing.Uniform(1/c.cfg.BurstEvery.Seconds(), c.cfg.Warmup+c.cfg.Duration-c.cfg.BurstEvery), func(due time.Duration) {
			for range c.cfg.Burst {
				if !c.over {
					c.askHelp(due)
					c.annotate(due)
				}
			}
		})
	}
}

// leave makes an attendee lose the connection, like a phone that changes networks, and reconnect.
func (c *crowd) leave() {
	if p := c.active(); p != nil && p.online {
		p.left, p.leaver = c.clock.Now(), true
		p.conn.Close()
		c.lost(p, sockets.End{Err: errLeft})
	}
}

var errLeft = errors.New("left and came back")

// readLists makes a facilitator read the next list.
func (c *crowd) readLists(due time.Duration) {
	lists := []string{"/attendees", "/help", "/overview", "/inline-comments"}
	f := c.facilitator(c.reads / len(lists))
	path := "/codelabs/" + c.lab.ID + lists[c.reads%len(lists)]
	c.reads++
	c.request(opRead, due, f, &api.Request{Method: "GET", Path: path, Session: f.login}, func(audit.Fate, *api.Answer, error) {})
}
