//go:build linux

package workshop

import (
	"fmt"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/pacing"
)

// registerAgain is the minimum delay between attempts to register, after no response or a 429.
// registerTries is the maximum number of attempts.
const (
	registerAgain = time.Second
	registerTries = 20
)

// storm plans the registration of all attendees, spread over Config.Join. Each attendee connects
// after registering.
func (c *crowd) storm() {
	next := 0
	c.loop.Agenda.Stream(c.clock.Now(), pacing.Count(c.cfg.Attendees, c.cfg.Join), func(due time.Duration) {
		p := c.people[next]
		next++
		c.register(p, due, 1)
	})
}

// register registers an attendee. Latency counts from the planned time of the first attempt. An
// attempt without a response may have been applied. The attendee sends a PIN, so the next attempt is
// then a rejoin. If the server registers somebody twice, its list of attendees shows two records.
func (c *crowd) register(p *person, due time.Duration, try int) {
	body := fmt.Sprintf(`{"name":%q,"code":"%06d","email":""}`, p.name, p.index)
	r := &api.Request{Method: "POST", Path: "/codelabs/" + c.lab.ID + "/register", Body: []byte(body), Again: true}
	c.request(opRegister, due, p, r, func(fate audit.Fate, a *api.Answer, err error) {
		if fate == audit.Acknowledged {
			var record api.Attendee
			if err := a.Decode(&record); err != nil {
				c.refused(opRegister, err.Error())
				return
			}
			p.id, p.login = record.ID, a.Session
			c.byID[p.id] = p.index
			c.connect(p)
			return
		}
		wait := registerAgain
		if fate == audit.Refused {
			if a.Status != 429 {
				return
			}
			wait = max(wait, a.RetryAfter)
		}
		if try < registerTries && !c.closing {
			c.loop.Agenda.At(c.clock.Now()+wait, func(time.Duration) { c.register(p, due, try+1) })
		}
	})
}
