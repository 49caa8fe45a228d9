//go:build linux

package tokens

import (
	"net/http"
	"time"

	"atelier/bench/api"
)

// caller is a client with a connection to one node. If it loses the connection, it connects to the
// next node.
type caller struct {
	clients *api.Spread
	node    int
	conn    api.Conn

	// trips counts the retries and the failures of each operation.
	trips map[string]trip
}

// trip counts the retries of requests on another node. failed counts requests that ended without a
// result, because they could not be retried or were retried too often.
type trip struct{ repeated, failed int }

// These are the maximum number of retries of a request, and the pause before a retry after all
// nodes were tried.
const (
	repeats     = 60
	repeatAfter = 250 * time.Millisecond
)

// Close ends the connection.
func (c *caller) Close() { c.conn.Close() }

// post sends a request with an API key. After a 503 or without a response, it retries on another
// node, if the request has an Idempotency-Key or certainly did not arrive. With one node it never
// retries. answer is valid until the next call.
func (c *caller) post(operation, path, key, idempotency string, body []byte) (status int, answer []byte, err error) {
	headers := "Authorization: Bearer " + key + "\r\n"
	if idempotency != "" {
		headers += "Idempotency-Key: " + idempotency + "\r\n"
	}
	for try := 0; ; try++ {
		n := c.clients.Node(c.node)
		c.conn.Address, c.conn.Host = n.Address(), n.Host()
		status, answer, err = c.conn.Do("POST", path, headers, body)
		if c.clients.Size() == 1 || err == nil && status != http.StatusServiceUnavailable {
			return status, answer, err
		}
		c.node++
		c.conn.Close()
		if try == repeats || idempotency == "" && !api.Unsent(err) {
			c.note(operation, trip{failed: 1})
			return status, answer, err
		}
		c.note(operation, trip{repeated: 1})
		if try >= c.clients.Size()-1 {
			time.Sleep(repeatAfter)
		}
	}
}

func (c *caller) note(operation string, more trip) {
	if c.trips == nil {
		c.trips = map[string]trip{}
	}
	t := c.trips[operation]
	c.trips[operation] = trip{t.repeated + more.repeated, t.failed + more.failed}
}
