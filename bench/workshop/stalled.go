//go:build linux

package workshop

// stalls contains the results of people who stopped reading. The loop owns it.
type stalls struct {
	// asleep means that these people currently do not read.
	asleep bool
	// closed is the number of their connections that ended while asleep was set.
	closed int
}

// sleep makes the stalled people stop reading.
func (c *crowd) sleep() {
	c.stalls.asleep = true
	for _, p := range c.attendees() {
		if p.stalled && p.conn != nil {
			p.conn.Pause()
		}
	}
}

// wake makes the stalled people read again, as after the opening of a laptop. People without a
// connection reconnect with their last position.
func (c *crowd) wake() {
	c.stalls.asleep = false
	for _, p := range c.attendees() {
		switch {
		case !p.stalled || !p.joined():
		case p.conn == nil:
			c.connect(p)
		default:
			p.conn.Resume()
		}
	}
}
