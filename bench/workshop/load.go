//go:build linux

package workshop

import "time"

// load plans everything that happens between the join and the end, beginning at
// the time given.
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
			c.say(p, due)
			c.sent(opChat, due, c.clock.Now())
		}
	})
	stream(stepsPerSecond, func(due time.Duration) {
		c.step(due)
		c.sent(opProgress, due, c.clock.Now())
	})
	stream(c.cfg.Help, c.askHelp)
	stream(c.cfg.Comments, c.annotate)
}
