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

var errShed = errors.New("too many requests in progress")

// request makes a REST call of a person that was planned for due, off the loop,
// and hands the answer back on the loop. The fate is Acknowledged for 2xx, Refused for
// any other answer.
func (c *crowd) request(op operation, due time.Duration, p *person, r *api.Request, then func(audit.Fate, *api.Answer, error)) {
	if c.underway >= maxUnderway {
		c.shed++
		then(audit.Unsent, nil, errShed)
		return
	}
	c.underway++
	node := p.node
	c.requests.Go(func() {
		sent := c.clock.Now()
		a, trip, err := c.clients.Do(node, r)
		now := c.clock.Now()
		c.loop.Post(func() {
			c.underway--
			c.tallies[op].repeated += trip.Repeated
			if h := c.harmAt(sent); h != nil {
				h.repeated += trip.Repeated
			}
			c.sent(op, due, sent)
			then(c.fate(op, due, now, a, err, sent), a, err)
		})
	})
}

func (c *crowd) fate(op operation, due, now time.Duration, a *api.Answer, err error, sent time.Duration) audit.Fate {
	switch {
	case api.Unsent(err):
		c.tallies[op].unanswered++
		return audit.Unsent
	case err != nil:
		c.gaveUp(op, sent, err.Error())
		return audit.Unanswered
	case a.Status == http.StatusServiceUnavailable && c.clients.Size() > 1 && len(c.cfg.Faults) > 0:
		// The node that says so may have lost its way to the one that knew.
		c.gaveUp(op, sent, a.Err().Error())
		return audit.Unanswered
	case a.Status == http.StatusServiceUnavailable && len(c.cfg.Faults) > 0:
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

// gaveUp notes a request that ended in an error for the client: it got no answer
// that can be relied on, and was not one to be repeated.
func (c *crowd) gaveUp(op operation, sent time.Duration, complaint string) {
	t := &c.tallies[op]
	t.unanswered++
	t.failed++
	t.complaint = complaint
	if h := c.harmAt(sent); h != nil {
		h.failed[names[op]]++
	}
}
