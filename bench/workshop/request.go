//go:build linux

package workshop

import (
	"errors"
	"net/http"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
)

// maxUnderway is the maximum number of REST requests without a response. It is reached within
// seconds if a server stops responding. Requests that are then not sent make the run invalid,
// because the load was not the planned load.
const maxUnderway = 20_000

var errShed = errors.New("too many requests in progress")

// request makes a REST call of a person, planned for due, on a separate goroutine. Afterwards it
// calls then on the loop. The fate is Acknowledged for 2xx, and Refused for any other response,
// except for a 503 in a run with faults. Without a response it is Unanswered, or Unsent if the
// request certainly did not arrive.
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
			c.tallies[op].Repeated += trip.Repeated
			if h := c.harmAt(sent); h != nil {
				h.repeated += trip.Repeated
			}
			c.sent(op, due, sent)
			then(c.fate(op, due, now, a, err, sent), a, err)
		})
	})
}

// fate counts the result of a request that was sent at sent and ended at now, and returns its fate.
func (c *crowd) fate(op operation, due, now time.Duration, a *api.Answer, err error, sent time.Duration) audit.Fate {
	switch {
	case api.Unsent(err):
		c.tallies[op].Unanswered++
		return audit.Unsent
	case err != nil:
		c.gaveUp(op, sent, err.Error())
		return audit.Unanswered
	case a.Status == http.StatusServiceUnavailable && c.clients.Size() > 1 && len(c.cfg.Faults) > 0:
		// The node that responds may have lost its connection to the node that has the result.
		c.gaveUp(op, sent, a.Err().Error())
		return audit.Unanswered
	case a.Status == http.StatusServiceUnavailable && len(c.cfg.Faults) > 0:
		// A starting server responds like this. Nothing was applied.
		c.tallies[op].Unanswered++
		return audit.Unsent
	case !a.OK():
		c.refused(op, a.Err().Error())
		return audit.Refused
	}
	c.done(op, due, now)
	return audit.Acknowledged
}

// gaveUp records a request that ended in an error for the client. The request got no reliable
// response, and could not be retried.
func (c *crowd) gaveUp(op operation, sent time.Duration, complaint string) {
	c.tallies[op].GiveUp(complaint)
	c.tallies[op].Failed++
	if h := c.harmAt(sent); h != nil {
		h.failed[names[op]]++
	}
}
