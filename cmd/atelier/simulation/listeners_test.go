package simulation

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/room"
)

// listener is a client of one person. It receives the messages of a node's room. When its
// connection ends, the listener connects to a random node and continues from its position.
type listener struct {
	w      *world
	name   string
	rand   *rand.Rand
	person string

	// The model's mu guards stretches.
	stretches []*stretch
}

// stretch is the part of the stream that a listener received without a gap: after from, up to and
// including to.
type stretch struct {
	node     string
	from, to uint64
	frames   []uint64 // seqs, in order of arrival
	heads    []uint64 // the room's heads when each part arrived
	parts    []int
}

// connection is a listener connected to a node.
type connection struct {
	wake chan struct{} // capacity 1
	away chan struct{} // closed when the server ends the connection
	once sync.Once
	room *room.Room
	who  string
	s    *server
}

// Wake implements room.Waker.
func (c *connection) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *connection) end() { c.once.Do(func() { close(c.away) }) }

// connections contains the open connections. mu guards its fields.
type connections struct {
	mu    sync.Mutex
	all   []*connection
	still bool // no connection opens or closes
}

func (c *connections) mayNotMove() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.still
}

// people returns the connected people, sorted.
func (c *connections) people() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	here := []string{}
	for _, x := range c.all {
		here = append(here, x.who)
	}
	slices.Sort(here)
	return slices.Compact(here)
}

// still prevents listeners from connecting and leaving while it is set. A listener that is sent
// away leaves nevertheless.
func (m *model) still(still bool) {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	m.open.still = still
}

func (c *connections) add(x *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, x)
}

func (c *connections) remove(x *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = slices.DeleteFunc(c.all, func(o *connection) bool { return o == x })
}

func (c *connections) end(which func(*connection) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.all {
		if which(x) {
			x.end()
		}
	}
}

// sentAway ends the connections of an attendee to a room, or all its connections if attendee is "".
// A node calls it when the grants of these people or the room itself have ended.
func (m *model) sentAway(r *room.Room, attendee string) {
	m.open.end(func(c *connection) bool { return c.room == r && (attendee == "" || c.who == attendee) })
}

// sentAllAway ends all connections to a server.
func (m *model) sentAllAway(s *server) { m.open.end(func(c *connection) bool { return c.s == s }) }

// run listens until all activity has ended.
func (l *listener) run(quiet <-chan struct{}) {
	since, known := uint64(0), false
	for l.w.pause(time.Duration(l.rand.ExpFloat64() * float64(200*time.Millisecond))) {
		select {
		case <-quiet:
			return
		default:
		}
		if l.w.model.open.mayNotMove() {
			continue
		}
		n := l.w.nodes[l.rand.IntN(len(l.w.nodes))]
		s, ws, err := n.get()
		if err != nil {
			continue
		}
		view := ws.View()
		if l.person == "" || view.Attendee(l.person) == nil {
			if view.Attendees.Len() == 0 {
				continue
			}
			l.person, known = view.Attendees.At(l.rand.IntN(view.Attendees.Len())).Id, false
		}
		if !known {
			since = ws.Room.Head()
		} else if err := s.leaves(ws.Await(since)); err != nil {
			continue
		}
		since, known = l.listen(s, ws, since, quiet)
	}
}

// listen stays connected to a node until it is sent away or leaves. It returns its position. known
// is false if the listener must read the state again.
func (l *listener) listen(s *server, ws codelab.Codelab, since uint64, quiet <-chan struct{}) (at uint64, known bool) {
	m, r := l.w.model, ws.Room
	c := &connection{wake: make(chan struct{}, 1), away: make(chan struct{}), room: r, who: l.person, s: s}
	m.open.add(c)
	defer m.open.remove(c)
	r.Subscribe(c)
	defer r.Unsubscribe(c)
	r.Join(l.person)
	defer r.Leave(l.person)
	if ws.View().Attendee(l.person) == nil {
		return since, false // removed between the read and the registration
	}
	if ws.Over() || s.n.server.Load() != s {
		return since, true
	}
	st := &stretch{node: s.n.name, from: since, to: since}
	l.w.history.add(l.name, s.n.name, "listens from position %d", since)
	m.mu.Lock()
	l.stretches = append(l.stretches, st)
	m.mu.Unlock()
	defer func() { l.w.history.add(l.name, s.n.name, "has %d frames, up to %d", len(st.frames), at) }()
	goes := time.After(time.Duration(l.rand.ExpFloat64() * float64(4*time.Second)))
	slow := time.Duration(0)
	if l.rand.IntN(4) == 0 {
		slow = 2 * time.Second
	}
	for {
		// A listener that was sent away receives no later message.
		select {
		case <-c.away:
			return st.to, true
		default:
		}
		frames, to, ok := r.After(st.to, nil, 4096)
		if !ok {
			return 0, false // the listener must read the state again
		}
		head := r.Head()
		m.mu.Lock()
		st.heads, st.parts = append(st.heads, head), append(st.parts, len(st.frames))
		for _, f := range frames {
			st.frames = append(st.frames, f.Seq)
		}
		st.to = to
		m.mu.Unlock()
		if to < head && slow == 0 {
			continue
		}
		select {
		case <-c.wake:
		case <-c.away:
			return st.to, true
		case <-goes:
			if !m.open.mayNotMove() {
				return st.to, true
			}
		case <-quiet:
			return st.to, true
		case <-l.w.ended:
			return st.to, true
		}
		if slow > 0 {
			select {
			case <-c.away:
			case <-time.After(time.Duration(l.rand.ExpFloat64() * float64(slow))):
			}
		}
	}
}

// checkListener makes the check "frames" for one listener. In each stretch the listener received
// every frame once and in order, except frames that were erased before they arrived.
func (m *model) checkListener(l *listener, wanted []*tale) {
	for _, st := range l.stretches {
		if !slices.IsSorted(st.frames) || len(slices.Compact(slices.Clone(st.frames))) != len(st.frames) {
			m.failLocked("frames", "%s at %s from position %d got frames out of order, or twice: %v", l.name, st.node, st.from, st.frames)
			return
		}
		got := map[uint64]uint64{} // the head of the room when each frame arrived
		for i, part := range st.parts {
			end := len(st.frames)
			if i+1 < len(st.parts) {
				end = st.parts[i+1]
			}
			for _, seq := range st.frames[part:end] {
				got[seq] = st.heads[i]
			}
		}
		last := uint64(0)
		if len(st.heads) > 0 {
			last = st.heads[len(st.heads)-1]
		}
		for _, t := range wanted {
			if _, came := got[t.Seq]; t.Seq > st.from && t.Seq <= st.to && !came && (t.gone == 0 || t.gone > last) {
				e, _ := m.event(t.Seq)
				m.failLocked("frames", "%s at %s from position %d never received the frame of %d, but has %v up to %d. Event %d, which is erased at %d: %v", l.name, st.node, st.from, t.Seq, st.frames, st.to, t.Seq, t.gone, e)
				return
			}
			delete(got, t.Seq)
		}
		for seq := range got {
			m.failLocked("frames", "%s at %s received a frame of %d, although this event has no frame", l.name, st.node, seq)
			return
		}
	}
}

// checkRoom makes the checks "erased" and "removed" for a node's room. On a node without activity,
// no frame of removed data is kept for replay, and no removed person is still connected.
func (m *model) checkRoom(where string, r *room.Room, present *codelab.Present, there func(person string) bool) {
	for at := r.Floor(); at < r.Head(); {
		frames, to, ok := r.After(at, nil, 1<<20)
		if !ok {
			break
		}
		for _, f := range frames {
			if left, ok := present.Frame(f); !ok || left.People != f.People {
				m.fail("erased", "%s still keeps for replay the frame of event %d, whose person or item is gone", where, f.Seq)
			}
		}
		at = to
	}
	for _, person := range r.Here() {
		if !there(person) {
			m.fail("removed", "%s still has a connection of %s, who was removed", where, person)
		}
	}
}
