package live

import (
	"errors"
	"time"

	"atelier/actors/room"
	"atelier/transport/rfc6455"
)

// readBuffer is the size of the loop's read buffer, which all its sessions share.
const readBuffer = 64 << 10

// spareSegments is the maximum number of segments whose memory is kept for reuse. An extended
// fan-out needs this number at the same time. Their memory is at most three times segmentBytes per
// group.
const spareSegments = 4

var errGone = errors.New("live: connection ended")

// loop owns a share of the sessions. Only its goroutine accesses their state; other goroutines use
// the inbox.
type loop struct {
	// Immutable after newLoop.
	hub *Hub
	// wake can be called from any goroutine, the other methods only by the loop.
	poller *poller

	inbox inbox
	count counters

	// Owned by the loop goroutine, like all following fields. now is in nanoseconds since the hub
	// was created, and is updated by turn and serve.
	now      int64
	sessions map[uint64]*Session
	rooms    map[*room.Room]*loopRoom
	// soon contains the sessions that are behind and can continue.
	soon []*Session
	// unread contains the sessions that can have unread bytes after a turn.
	unread []*Session
	// held contains the sessions with an outbox to flush in this turn: during a fan-out if the
	// order permits, otherwise after the turn's fan-outs.
	held []*Session
	// fanningOut means that walk is visiting the sessions of groups. gone contains the sessions
	// that ended meanwhile and are still in their groups.
	fanningOut bool
	gone       []*Session
	// sinceView counts the writes since the last poll.
	sinceView int
	// stopped ends run.
	stopped bool

	// The following memory is reused in each turn, so that the usual turn allocates nothing.
	spareWork work
	spareSoon []*Session
	spareRead []*Session
	spareHeld []*Session
	spare     []*segment
	outbound  []outboundMessage
	out       []byte
	decoder   rfc6455.Decoder
	buf       []byte
	// ping is the last ping among the bytes being read. pinged reports whether these bytes
	// contained a ping.
	ping   []byte
	pinged bool
}

func newLoop(h *Hub) (*loop, error) {
	p, err := newPoller()
	if err != nil {
		return nil, err
	}
	return &loop{
		hub:      h,
		poller:   p,
		sessions: make(map[uint64]*Session),
		rooms:    make(map[*room.Room]*loopRoom),
		buf:      make([]byte, readBuffer),
		spare:    make([]*segment, 0, spareSegments),
	}, nil
}

func (l *loop) run() {
	for !l.stopped {
		events := l.poller.poll()
		l.serve(events)
		if worked := l.turn(); !worked && len(events) == 0 {
			if l.inbox.sleep() {
				l.poller.park()
			}
			l.inbox.awake()
		}
	}
	l.finish()
}

// serve reads from and writes to sockets that are ready. It is called between turns and during a
// long fan-out, so it must not disturb a fan-out: it must not change the groups, or start another
// fan-out.
func (l *loop) serve(events []event) {
	if len(events) == 0 {
		return
	}
	l.now = l.hub.now()
	for i := range events {
		e := &events[i]
		s := l.sessions[e.id]
		if s == nil {
			continue
		}
		if e.in {
			l.read(s, e.hup)
		}
		if e.out {
			l.roomy(s)
		}
	}
}

// turn does the work that has arrived since the last turn. The order is part of the package's
// promises: first published frames, then joins, then private payloads. Everything published before
// a join or payload is therefore sent before it. turn returns false if there was no work.
func (l *loop) turn() (worked bool) {
	w := l.inbox.take(l.spareWork)
	l.spareWork = w
	if w.empty() && len(l.soon) == 0 && len(l.unread) == 0 && len(l.held) == 0 {
		return false
	}
	l.now = l.hub.now()
	l.held = append(l.held, w.outboxes...)
	for _, h := range w.rooms {
		h.dirty.Store(false)
		if len(h.people) > 0 {
			since := h.since.Load()
			l.drain(h)
			if delivered := l.hub.opts.Delivered; delivered != nil && since != 0 {
				delivered(time.Duration(l.hub.now() - since))
			}
		}
	}
	for _, task := range w.tasks {
		task()
	}
	l.flushHeld()
	l.catchUp()
	l.readOn()
	return true
}

// catchUp resumes every lagging session that can continue.
func (l *loop) catchUp() {
	soon := l.soon
	l.soon = l.spareSoon[:0]
	for _, s := range soon {
		if s.lag != nil && s.lag.soon {
			s.lag.soon = false
			l.resume(s)
		}
	}
	clear(soon)
	l.spareSoon = soon
}

// readOn continues reading from sessions that had sent more than is read per turn.
func (l *loop) readOn() {
	unread := l.unread
	l.unread = l.spareRead[:0]
	for _, s := range unread {
		if s.state != closed {
			l.read(s, true)
		}
	}
	clear(unread)
	l.spareRead = unread
}

// write writes bytes to a session's wire and returns the number of accepted bytes. If the connection
// has failed, write drops the session and returns false.
func (l *loop) write(s *Session, p []byte) (int, bool) {
	n, err := s.wire.write(p)
	l.count.writes.Add(1)
	if err != nil {
		l.drop(s, ReasonGone)
		return 0, false
	}
	l.count.bytes.Add(uint64(n))
	if n < len(p) {
		l.count.shortWrites.Add(1)
	}
	return n, true
}

// writable is called when a wire that had refused bytes accepts them again, or has failed.
func (l *loop) writable(s *Session) {
	if s.lag != nil {
		l.resume(s)
	}
}

// housekeep checks every session, once per tick. A check takes about 30 ns, so 10,000 sessions cost
// 0.03 % of a core.
func (l *loop) housekeep() {
	for _, s := range l.sessions {
		l.lookAfter(s)
	}
}

func (l *loop) lookAfter(s *Session) {
	o := &l.hub.opts
	switch {
	case s.leaving != 0:
		if l.now-s.leaving > int64(o.CloseGrace) {
			l.abort(s, s.reason)
		}
	case s.lag != nil:
		if l.now-s.lag.moved > int64(o.SlowTimeout) {
			l.abort(s, ReasonStalled)
		}
	case s.protocol == SSE:
		if l.now-s.beat >= s.beats(o.Heartbeat) {
			l.beat(s)
		}
	case l.now-s.seen <= int64(o.IdleTimeout):
		if l.now-max(s.seen, s.beat) >= int64(o.PingInterval) {
			l.beat(s)
		}
	case s.beat <= s.seen:
		// No ping was sent in time, because the process was suspended or the session lagged. The
		// client gets a ping, and its silence counts from this ping. Otherwise every session would
		// be closed in the first tick after the process resumes.
		l.beat(s)
	case l.now-s.beat >= int64(min(o.PingInterval, o.IdleTimeout)):
		l.endNow(s, ending{rfc6455.CloseGoingAway, "idle", ReasonIdle})
	}
}

// beats returns the interval of heartbeats to an SSE session, in nanoseconds: at most the given
// interval, and up to a fifth shorter.
func (s *Session) beats(most time.Duration) int64 {
	const parts = 64
	return int64(most) - int64(most)/5*int64(s.id%parts)/parts
}

func (l *loop) beat(s *Session) {
	s.beat = l.now
	l.writeNow(s, s.protocol.heartbeat())
}

// finish ends the remaining sessions when the hub closes.
func (l *loop) finish() {
	l.inbox.mu.Lock()
	l.inbox.closed = true
	l.inbox.mu.Unlock()
	// Accepted tasks are executed, because callers can be waiting for them.
	l.turn()
	for _, s := range l.sessions {
		l.abort(s, ReasonShutdown)
	}
	l.poller.close()
}

// now returns the time since the hub was created, in nanoseconds of the monotonic clock.
func (h *Hub) now() int64 { return int64(time.Since(h.born)) }
