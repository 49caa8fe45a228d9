//go:build linux

package broadcast

import (
	"time"

	"atelier/bench/frames"
	"atelier/bench/sockets"
)

// client is a subscriber or publisher. Only the loop's goroutine uses it.
type client struct {
	index     int
	node      int // its current node, or the one to connect to
	seat      Seat
	script    *script
	publisher bool
	// sleeper means that this subscriber stops reading in the stalled parts. Its latencies never
	// count. asleep means that it does not read now.
	sleeper, asleep bool

	conn   *sockets.Conn
	newest *known // its newest frame
	ready  bool
	// was means that the client has been ready before; kept means that this machine lacked a
	// resource for its latest attempt.
	was, kept bool
	// away means that the client has been ready before, and has lost its connection. dialled is the
	// time from which the time to connect counts: the loss of the ready connection, or the first
	// dial if the client has not been ready yet. back is the time of the last reconnection.
	away     bool
	dialled  time.Duration
	back     time.Duration
	attempts int
	// known means that position, from which the client can resume, is known.
	known    bool
	position uint64
	epoch    string
	// closedAsleep means that the connection was closed while the client slept. gap means that the
	// server has reported a gap.
	closedAsleep, gap bool

	tracks []track
	// spoiled contains the numbers that arrived with a wrong stamp, by publisher. It is nearly
	// always empty.
	spoiled map[int][]int64
}

// dial starts to connect or reconnect a client, unless it has a connection.
func (e *Engine) dial(c *client) {
	if c.conn != nil || e.closing {
		return
	}
	if c.attempts == 0 && !c.away {
		c.dialled = e.now()
	}
	path := c.seat.Path
	if c.known && e.job.Dialect.Resume != "" {
		path += c.script.from(c.position, c.epoch)
	}
	to := e.nodes[c.node]
	t := &sockets.Target{
		Address: to.address,
		Source:  sockets.Source(to.address, e.job.First+c.index),
		Upgrade: frames.Upgrade{Host: to.host, Path: path, Cookie: c.seat.Cookie, Headers: c.script.lines()},
		Stream:  e.job.Stream, Binary: true, SendBinary: e.job.Dialect.Binary,
	}
	if c.sleeper {
		t.ReceiveBuffer = e.job.ReceiveBuffer
	}
	conn, err := e.loop.Dial(c.index, t)
	if c.kept = own(err); c.kept {
		e.out.Lack = sockets.End{Err: err}.String()
		e.retry(c)
		return
	}
	if err != nil {
		e.ended(c, sockets.End{Err: err})
		return
	}
	c.conn = conn
	if c.asleep {
		conn.Pause()
	}
}

// Open implements sockets.Handler.
func (e *Engine) Open(conn *sockets.Conn) {
	if e.closing {
		return
	}
	c := e.clients[conn.Owner]
	if hello := c.script.hello.String(); hello != "" {
		conn.Send([]byte(hello))
	}
	if e.reader.ready == nil {
		e.welcome(c)
	}
}

// welcome records that a client is ready. Further calls for the same connection have no effect.
func (e *Engine) welcome(c *client) {
	if c.ready {
		return
	}
	now := e.now()
	if c.was {
		e.out.Resumes.Record(now - c.dialled)
		c.back = now
	} else {
		e.out.Connects.Record(now - c.dialled)
	}
	if c.was && e.job.Dialect.Resume == "" {
		e.adrift(c)
	}
	c.ready, c.was, c.away, c.attempts = true, true, false, 0
	if !c.publisher {
		e.ready++
	}
}

// adrift lets the client continue with the next message that it receives, whatever its number.
func (e *Engine) adrift(c *client) {
	for p := range c.tracks {
		c.tracks[p].adrift = true
	}
}

// Message implements sockets.Handler.
func (e *Engine) Message(conn *sockets.Conn, payload []byte) {
	if e.closing {
		return
	}
	c := e.clients[conn.Owner]
	c.newest = e.reader.read(payload, c.newest)
	h := &c.newest.parsed
	if h.epoch != "" {
		c.epoch = h.epoch
	}
	if h.ready {
		e.welcome(c)
	}
	if h.answer != "" {
		conn.Send([]byte(h.answer))
	}
	for _, seq := range h.acked {
		e.acked(seq)
	}
	for _, seq := range h.refused {
		e.refuse(seq, e.mask.shown(string(payload)))
	}
	if h.strange {
		e.estranged(c, payload)
		return
	}
	if c.publisher {
		return
	}
	if h.gap {
		e.gap(c)
	}
	if h.position > 0 {
		c.known, c.position = true, max(h.position, c.position)
	}
	if len(h.messages) > 0 {
		now := e.loop.ReadAt() + e.offset
		for _, m := range h.messages {
			e.deliver(c, m, now)
		}
	}
}

// gap records that the server could not deliver some messages to a client.
func (e *Engine) gap(c *client) {
	e.adrift(c)
	if c.gap = true; !c.sleeper {
		e.out.Gaps++
	}
}

// deliver handles a message for a subscriber.
func (e *Engine) deliver(c *client, m delivery, now time.Duration) {
	publishers := uint64(e.job.AllPublishers)
	if publishers == 0 {
		return
	}
	p, n := int(m.seq%publishers), int64(m.seq/publishers)
	if m.due == forged {
		e.spoil(c, p, n)
		return
	}
	v, skipped := c.tracks[p].got(n)
	e.out.AllDeliveries++
	e.current.Deliveries++
	e.out.Away += skipped
	switch v {
	case duplicated:
		e.out.Duplicated++
		return
	case reordered:
		e.out.Reordered++
	}
	if c.sleeper {
		return
	}
	took := now - m.due
	measured := e.load != nil && m.due >= e.load.From && m.due < e.load.Until
	if measured {
		e.out.Arrived++
		e.out.ByNode[c.node]++
		e.latencies.Record(took)
		for i := range e.load.Parts {
			if part := &e.load.Parts[i]; m.due >= part.From && m.due < part.Until {
				e.out.Parts[part.Kind].Record(took)
				break
			}
		}
	}
	e.land(p, n, took, measured)
}

// maxSpoiled is the maximum number of stored message numbers in client.spoiled, for all clients.
// They take 32 MiB.
const maxSpoiled = 4 << 20

// spoil records a message whose stamp does not belong to its number. When the sending has ended,
// the count of sent messages shows whether the stamp or the number is wrong. Beyond maxSpoiled the
// stamp counts as wrong, and the message also counts as lost.
func (e *Engine) spoil(c *client, p int, n int64) {
	e.current.Errors++
	if e.spoiled == maxSpoiled {
		e.out.Forged++
		return
	}
	e.spoiled++
	if c.spoiled == nil {
		c.spoiled = map[int][]int64{}
	}
	c.spoiled[p] = append(c.spoiled[p], n)
}

// land records that another reader has received message n of publisher p, after the time took.
func (e *Engine) land(p int, n int64, took time.Duration, measured bool) {
	switch {
	case n < 0:
		return
	case n >= maxFlights/int64(len(e.flights)):
		if e.load == nil {
			return
		}
		if e.newest[p] == nil {
			e.newest[p] = make(recent, 2*max(e.load.Window, 1))
		}
		e.windowed(p, n, e.newest[p].add(n))
		return
	}
	for int64(len(e.flights[p])) <= n {
		e.flights[p] = append(e.flights[p], flight{})
	}
	f := &e.flights[p][n]
	f.readers++
	if measured {
		f.last = max(f.last, uint32(min(max(took/time.Microsecond, 0), 1<<31))+1)
	}
	e.windowed(p, n, f.readers)
}

// Closed implements sockets.Handler.
func (e *Engine) Closed(conn *sockets.Conn, end sockets.End) { e.ended(e.clients[conn.Owner], end) }

// ended handles the end of a client's connection. The client reconnects later, unless it is asleep.
func (e *Engine) ended(c *client, end sockets.End) {
	if e.closing {
		return
	}
	if c.was && !c.away && !c.asleep {
		e.out.Ended++
	}
	e.current.Errors++
	e.out.Disconnects[e.how(end)]++
	if end.Denied() {
		e.denied++
	}
	e.lose(c)
	if c.asleep {
		c.closedAsleep = true
		return
	}
	e.retry(c)
}

// how describes how a connection ended. Secrets in the server's text are masked.
func (e *Engine) how(end sockets.End) string {
	if end.Quotes() {
		return e.mask.shown(end.String())
	}
	return end.String()
}

// retry dials later, after a random delay. The range of the delay grows with the number of clients.
// It doubles with each further failure, at most three times.
func (e *Engine) retry(c *client) {
	c.attempts++
	spread := max(250*time.Millisecond, time.Duration(len(e.clients))*time.Second/4000) << min(c.attempts-1, 3)
	e.again(c, spread/10+time.Duration(e.rng.Int64N(int64(spread))))
}

// drop closes a connection without a close frame, as if the client had crashed. The client
// reconnects after a random time of at most spread.
func (e *Engine) drop(c *client, spread time.Duration) {
	if c.conn != nil {
		c.conn.Close()
	}
	e.lose(c)
	e.again(c, time.Duration(e.rng.Int64N(int64(max(spread, 1)))))
}

// lose records that a client has no connection any more. The client moves to the next node.
func (e *Engine) lose(c *client) {
	if c.ready && !c.publisher {
		e.ready--
	}
	if c.was && !c.away {
		c.dialled = e.now()
	}
	c.conn, c.ready, c.away = nil, false, c.was
	c.node = (c.node + 1) % len(e.nodes)
}

// again schedules another dial of a client.
func (e *Engine) again(c *client, wait time.Duration) {
	e.at(e.now()+wait, func() { e.dial(c) })
}

// sleep makes the sleepers stop reading, or read again.
func (e *Engine) sleep(on bool) {
	for _, c := range e.clients {
		if !c.sleeper || c.asleep == on {
			continue
		}
		c.asleep = on
		switch {
		case c.conn == nil && !on:
			c.attempts = 0
			e.dial(c)
		case c.conn == nil:
		case on:
			c.conn.Pause()
		default:
			c.conn.Resume()
		}
	}
}
