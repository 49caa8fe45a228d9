//go:build linux

package workshop

import (
	"errors"
	"net/http"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
)

// maxUnderway bounds the REST requests that wait for an answer. A server that
// stops answering meets it after seconds; what is then not sent makes the run
// invalid, since the load was not the one that was planned.
const maxUnderway = 20_000

var errShed = errors.New("too many requests under way")

// request makes a REST call that was planned for due, off the loop, and hands
// the answer back on the loop. The fate is Acknowledged for 2xx, Refused for
// any other answer.
func (c *crowd) request(op operation, due time.Duration, r *api.Request, then func(audit.Fate, *api.Answer, error)) {
	if c.underway >= maxUnderway {
		c.shed++
		then(audit.Unsent, nil, errShed)
		return
	}
	c.underway++
	c.requests.Go(func() {
		sent := c.clock.Now()
		a, err := c.client.Do(r)
		now := c.clock.Now()
		c.loop.Post(func() {
			c.underway--
			c.sent(op, due, sent)
			then(c.fate(op, due, now, a, err), a, err)
		})
	})
}

func (c *crowd) fate(op operation, due, now time.Duration, a *api.Answer, err error) audit.Fate {
	switch {
	case api.Unsent(err):
		c.tallies[op].unanswered++
		return audit.Unsent
	case err != nil:
		c.tallies[op].unanswered++
		c.tallies[op].complaint = err.Error()
		return audit.Unanswered
	case a.Status == http.StatusServiceUnavailable && c.cfg.FaultEvery > 0:
		// A server that is starting says so; nothing was applied.
		c.tallies[op].unanswered++
		return audit.Unsent
	case !a.OK():
		c.refused(op, a.Err().Error())
		return audit.Refused
	}
	c.done(op, due, now)
	return audit.Acknowledged
}
