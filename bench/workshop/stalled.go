//go:build linux

package workshop

// stalls has the results of people who stopped reading. Owned by the loop.
type stalls struct {
	// asleep means that they do not read.
	asleep bool
	// closed counts those whose connection the server ended meanwhile.
	closed int
}

// sleep makes the stalled stop reading.
func (c *crowd) sleep() {
	c.stalls.asleep = true
	for _, p := range c.attendees() {
		if p.stalled && p.conn != nil {
			p.conn.Pause()
		}
	}
}

// wake makes the stalled read again, as a laptop whose lid is opened; those
// without a connection come back with their last position.
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
