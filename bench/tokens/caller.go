//go:build linux

package tokens

import (
	"net/http"
	"time"

	"atelier/bench/api"
	"atelier/bench/keepalive"
)

// caller is a client, on a connection to one node at any time. If it loses that, it connects to the
// next node.
type caller struct {
	clients *api.Spread
	node    int
	conn    keepalive.Conn

	// trips by operation.
	trips map[string]trip
}

// trip counts requests that were repeated on another node, and requests that could not be
// repeated, whose results are unknown.
type trip struct{ repeated, failed int }

// Limits of retries.
const (
	repeats     = 60
	repeatAfter = 250 * time.Millisecond
)

// Close ends the connection.
func (c *caller) Close() { c.conn.Close() }

// post sends a request. Without an answer, or with 503, it retries at another node if the request
// has an Idempotency-Key or certainly did not arrive. An answer is valid until the next call.
func (c *caller) post(operation, path, key, idempotency string, body []byte) (status int, answer []byte, err error) {
	headers := "Authorization: Bearer " + key + "\r\n"
	if idempotency != "" {
		headers += "Idempotency-Key: " + idempotency + "\r\n"
	}
	for try := 0; ; try++ {
		n := c.clients.Node(c.node)
		c.conn.Address, c.conn.Host = n.Address(), n.Host()
		status, answer, err = c.conn.Do(&keepalive.Request{Method: "POST", Path: path, Headers: headers, Body: body})
		if c.clients.Size() == 1 || err == nil && status != http.StatusServiceUnavailable {
			return status, answer, err
		}
		c.node++
		c.conn.Close()
		if try == repeats || idempotency == "" && !keepalive.Unsent(err) {
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
