//go:build linux

package workshop

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"atelier/bench/faults"
	"atelier/bench/frames"
	"atelier/bench/sockets"
)

// stalledBuffer is the SO_RCVBUF of people who stop reading, in bytes. It is small, so that the
// server notices within seconds.
const stalledBuffer = 4096

// connect starts to connect a person without a connection. A person who was welcomed before resumes
// from the last position.
func (c *crowd) connect(p *person) {
	if c.closing || p.conn != nil {
		return
	}
	if p.attempts == 0 {
		p.dialled = c.clock.Now()
	}
	query := url.Values{"as": {"attendee"}}
	if p.facilitator {
		query.Set("as", "admin")
	}
	if p.joined() {
		query.Set("epoch", p.epoch)
		query.Set("since", strconv.FormatUint(p.subscriber.Position(), 10))
	}
	client, address := c.clients.Node(p.node), c.addresses[p.node]
	t := &sockets.Target{
		Address: address,
		Source:  sockets.Source(address, p.index),
		Upgrade: frames.Upgrade{
			Host: client.Host(), Path: client.Path() + "/api/ws/" + c.lab.ID + "?" + query.Encode(), Cookie: p.login.Cookie(),
		},
	}
	if p.stalled {
		t.ReceiveBuffer = stalledBuffer
	}
	conn, err := c.loop.Dial(p.index, t)
	if err != nil {
		c.lost(p, sockets.End{Err: err})
		return
	}
	p.conn = conn
	if len(c.addresses) > 1 {
		c.loop.Agenda.At(c.clock.Now()+welcomeWithin, func(time.Duration) {
			if p.conn == conn && !p.online {
				conn.Close()
				c.lost(p, sockets.End{Err: errSilent})
			}
		})
	}
}

// welcomeWithin is the timeout for a node's welcome if there are other nodes, because a paused node
// still accepts connections.
const welcomeWithin = 3 * time.Second

var errSilent = errors.New("no welcome in time")

// Open implements sockets.Handler. A client counts as connected once it receives the welcome.
func (c *crowd) Open(*sockets.Conn) {}

// Closed implements sockets.Handler.
func (c *crowd) Closed(conn *sockets.Conn, end sockets.End) { c.lost(c.people[conn.Owner], end) }

// lost handles the end of a person's connection, or a failed attempt. The person reconnects later,
// at another node if there is one. A person who has stopped reading reconnects only in wake.
func (c *crowd) lost(p *person, end sockets.End) {
	if p.online {
		p.attempts = 0
		p.dialled = c.clock.Now()
	}
	p.conn, p.online = nil, false
	if !c.down {
		c.disconnects[end.String()]++
	}
	if p.stalled && c.stalls.asleep {
		c.stalls.closed++
		return
	}
	p.attempts++
	now := c.clock.Now()
	var refused *frames.RefusedError
	if errors.As(end.Err, &refused) && refused.Status == http.StatusServiceUnavailable {
		c.refusing[p.node] = now + askedEvery
	}
	p.node = c.elsewhere(p.node, now)
	c.loop.Agenda.At(now+c.backoff(p.attempts), func(time.Duration) { c.connect(p) })
}

// askedEvery is the interval at which the simulated load balancer checks the readiness of nodes.
const askedEvery = time.Second

// elsewhere returns the next node for a person who has lost one. It alternates between the other
// nodes, so that the people of one node are spread over all remaining nodes. It skips paused nodes,
// and nodes that have just refused somebody, like a load balancer that checks readiness.
func (c *crowd) elsewhere(node int, now time.Duration) int {
	n := len(c.addresses)
	if n == 1 {
		return node
	}
	to := node
	for range n - 1 {
		c.turn++
		if to = (node + 1 + c.turn%(n-1)) % n; !slices.Contains(c.standing, to) && c.refusing[to] <= now {
			break
		}
	}
	return to
}

// backoff returns a random delay before an attempt, so that thousands of people who lost the same
// server do not reconnect simultaneously. The range of the delay allows 4,000 reconnections per
// second, which one core handles. It doubles with each further failure, at most three times.
func (c *crowd) backoff(attempt int) time.Duration {
	spread := c.spread() << min(attempt-1, 3)
	return spread/10 + time.Duration(c.rng.Int64N(int64(spread)))
}

// spread is the range of the delay before a first attempt.
func (c *crowd) spread() time.Duration {
	return max(250*time.Millisecond, time.Duration(c.cfg.Attendees)*time.Second/4000)
}

// away reports whether a person had left, or was about to leave, at the time for which an operation
// was scheduled. A person who has left reconnects after at most the longest first backoff and the
// time for the connection.
func (c *crowd) away(p *person, due time.Duration) bool {
	return p.leaver && due > p.left-faults.Limit && due < p.left+c.spread()*11/10+time.Second
}

// welcome handles the first message of a connection.
func (c *crowd) welcome(p *person, m *message) {
	now := c.clock.Now()
	op := opResume
	if !p.joined() {
		op = opJoin
		p.subscriber.Welcome(m.Seq)
	}
	if !p.online {
		c.done(op, p.dialled, now)
	}
	c.welcomed = now
	p.epoch, p.online, p.attempts = string(m.Epoch), true, 0
	// Unacknowledged messages may already have been applied. Their refs make it safe to repeat
	// them.
	for i := range p.unacked {
		if p.conn == nil {
			return
		}
		if p.unacked[i].sent {
			c.repeated(p.unacked[i].op, now)
		}
		p.unacked[i].sent = true
		p.conn.Send(p.unacked[i].payload)
	}
}
