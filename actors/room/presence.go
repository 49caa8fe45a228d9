package room

import (
	"sync"
	"time"

	"atelier/actors/clock"
)

// presence counts the sessions of each person.
type presence struct {
	mu sync.Mutex
	// sessions counts each person's sessions on this node. It is nil until somebody connects.
	// Guarded by mu.
	sessions map[string]int32
	// elsewhere contains the persons connected to other nodes, by node. It is nil if there are
	// none. Guarded by mu.
	elsewhere map[string]map[string]struct{}
	// online is the number of persons connected to any node. Guarded by mu.
	online int
	// leaving contains people without a connection whose departure has not been announced yet. It
	// is used only if there are other nodes. Guarded by mu.
	leaving map[string]clock.Timer
	// gathered contains the people who were connected during the gathering. gathering is the
	// purpose, and goesOn means that the gathering continues. Guarded by mu.
	gathered  map[string]struct{}
	gathering string
	goesOn    bool
}

// farewell is the time for which a person must be disconnected from all nodes before the departure
// is announced, if the room has a Link. Messages of different nodes are not ordered, so the
// departure from one node can arrive before the arrival at another.
const farewell = 500 * time.Millisecond

// Link connects a room to the other nodes on which it is open. Its methods must not block. Each
// node announces arrivals and departures to its own listeners. If only the owner announced them,
// nobody would while the codelab moves.
type Link interface {
	// Arrived and Left report a person's first session on this node, and the end of the last one.
	Arrived(person string)
	Left(person string)
	// Passed sends frames to the listeners of the other nodes.
	Passed(frames []Frame)
	// Gone is called on every node when a person has left all of them.
	Gone(person string)
}

// Connect sets the link, and the clock for departures. It must be called before anybody connects.
func (r *Room) Connect(l Link, c clock.Clock) { r.link, r.clock = l, c }

// Join adds a session of a person. It reports whether to announce the person's arrival: this is
// their first session on any node, and no departure was pending.
func (r *Room) Join(person string) (announce bool) {
	p := &r.presence
	p.mu.Lock()
	if p.sessions == nil {
		p.sessions = make(map[string]int32)
	}
	p.sessions[person]++
	p.gather(person)
	here := p.sessions[person] == 1
	if announce = here && !p.isElsewhere(person); announce {
		p.online++
		announce = !p.stays(person)
	}
	p.mu.Unlock()
	if here && r.link != nil {
		r.link.Arrived(person)
	}
	return announce
}

// Leave removes a session. It reports whether to announce the departure immediately, because the
// session was the person's last. With several nodes, Link.Gone announces the departure later.
// Leaving without having joined changes nothing.
func (r *Room) Leave(person string) (announce bool) {
	p := &r.presence
	p.mu.Lock()
	n := p.sessions[person]
	switch n {
	case 0:
	case 1:
		delete(p.sessions, person)
		if len(p.sessions) == 0 {
			// A map never shrinks, but an empty room should free its memory.
			p.sessions = nil
		}
	default:
		p.sessions[person] = n - 1
	}
	if announce = n == 1 && !p.isElsewhere(person); announce {
		p.online--
		if r.link != nil {
			r.goes(person)
		}
	}
	p.mu.Unlock()
	if n == 1 && r.link != nil {
		r.link.Left(person)
		return false
	}
	return announce
}

// goes starts the timer after which a person's departure is announced. The caller holds mu.
func (r *Room) goes(person string) {
	p := &r.presence
	if p.leaving == nil {
		p.leaving = make(map[string]clock.Timer)
	}
	var timer clock.Timer
	timer = r.clock.AfterFunc(farewell, func() {
		p.mu.Lock()
		gone := p.leaving[person] == timer
		if gone {
			delete(p.leaving, person)
		}
		p.mu.Unlock()
		if gone {
			r.link.Gone(person)
		}
	})
	p.leaving[person] = timer
}

// stays cancels a person's pending departure, so that it is not announced, and reports whether
// there was one. The caller holds mu.
func (p *presence) stays(person string) bool {
	timer := p.leaving[person]
	if timer == nil {
		return false
	}
	timer.Stop()
	delete(p.leaving, person)
	return true
}

// isElsewhere reports whether a person is connected to another node. The caller holds mu.
func (p *presence) isElsewhere(person string) bool {
	for _, there := range p.elsewhere {
		if _, ok := there[person]; ok {
			return true
		}
	}
	return false
}

// isNowhere reports whether a person is connected to no node. The caller holds mu.
func (p *presence) isNowhere(person string) bool {
	return p.sessions[person] == 0 && !p.isElsewhere(person)
}

// Elsewhere records that a person has connected to, or left, another node. It reports whether to
// announce the person's arrival, as Join does. Link.Gone reports people who have left all nodes.
func (r *Room) Elsewhere(node, person string, there bool) (came bool) {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	return r.move(node, person, there)
}

// move implements Elsewhere. The caller holds mu.
func (r *Room) move(node, person string, there bool) (came bool) {
	p := &r.presence
	if _, was := p.elsewhere[node][person]; was == there {
		return false
	}
	if there {
		if came = p.isNowhere(person); came {
			p.online++
			came = !p.stays(person)
		}
		if p.elsewhere == nil {
			p.elsewhere = make(map[string]map[string]struct{})
		}
		if p.elsewhere[node] == nil {
			p.elsewhere[node] = make(map[string]struct{})
		}
		p.elsewhere[node][person] = struct{}{}
		p.gather(person)
		return came
	}
	if delete(p.elsewhere[node], person); len(p.elsewhere[node]) == 0 {
		delete(p.elsewhere, node)
	}
	if p.isNowhere(person) {
		p.online--
		if r.link != nil {
			r.goes(person)
		}
	}
	return false
}

// AllElsewhere replaces the list of people connected to another node. It returns the people whose
// arrival is to be announced.
func (r *Room) AllElsewhere(node string, people []string) (came []string) {
	p := &r.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	now := make(map[string]struct{}, len(people))
	for _, person := range people {
		now[person] = struct{}{}
	}
	var left []string
	for person := range p.elsewhere[node] {
		if _, still := now[person]; !still {
			left = append(left, person)
		}
	}
	for _, person := range left {
		r.move(node, person, false)
	}
	for _, person := range people {
		if r.move(node, person, true) {
			came = append(came, person)
		}
	}
	return came
}

// Gather starts to record the connected people for the purpose what. If the purpose is the same as
// before, the recording continues. With "" the recording ends, and the last record remains.
func (r *Room) Gather(what string) {
	p := &r.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.goesOn = what != ""; p.goesOn && what != p.gathering {
		p.gathered, p.gathering = p.all(), what
	}
}

// gather adds a person to the record. The caller holds mu.
func (p *presence) gather(person string) {
	if p.goesOn {
		p.gathered[person] = struct{}{}
	}
}

// Ungather removes a person from the record.
func (r *Room) Ungather(person string) {
	p := &r.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.gathered, person)
}

// Gathered counts the people recorded for a purpose, without the people in except.
func (r *Room) Gathered(what string, except ...string) int {
	p := &r.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	if what != p.gathering {
		return 0
	}
	n := len(p.gathered)
	for _, person := range except {
		if _, there := p.gathered[person]; there {
			n--
		}
	}
	return n
}

// Nodes returns the other nodes with connected people.
func (r *Room) Nodes() (nodes []string) {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	for node := range r.presence.elsewhere {
		nodes = append(nodes, node)
	}
	return nodes
}

// Count returns the number of people connected to a node ("" for this one), and the sum of hashes
// of their ids. Two nodes with the same people have equal sums.
func (r *Room) Count(node string) (n int, sum uint64) {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	if node == "" {
		for person := range r.presence.sessions {
			sum += sumOf(person)
		}
		return len(r.presence.sessions), sum
	}
	for person := range r.presence.elsewhere[node] {
		sum += sumOf(person)
	}
	return len(r.presence.elsewhere[node]), sum
}

// sumOf returns FNV-1a of a person's id.
func sumOf(person string) uint64 {
	sum := uint64(14695981039346656037)
	for i := range len(person) {
		sum = (sum ^ uint64(person[i])) * 1099511628211
	}
	return sum
}

// Here returns the persons connected to this node, in no particular order.
func (r *Room) Here() []string {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	people := make([]string, 0, len(r.presence.sessions))
	for person := range r.presence.sessions {
		people = append(people, person)
	}
	return people
}

// Connected returns the number of persons connected to this node.
func (r *Room) Connected() int {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	return len(r.presence.sessions)
}

// Empty reports whether nobody is connected to this node.
func (r *Room) Empty() bool {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	return len(r.presence.sessions) == 0
}

// Online returns the number of persons connected to any node.
func (r *Room) Online() int {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	return r.presence.online
}

// all returns the people connected to any node. The caller holds mu.
func (p *presence) all() map[string]struct{} {
	people := make(map[string]struct{}, len(p.sessions))
	for person := range p.sessions {
		people[person] = struct{}{}
	}
	for _, there := range p.elsewhere {
		for person := range there {
			people[person] = struct{}{}
		}
	}
	return people
}

// IsPresent reports whether a person is connected to any node.
func (r *Room) IsPresent(person string) bool {
	p := &r.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[person] > 0 || p.isElsewhere(person)
}

// IsElsewhere reports whether a person is connected to another node, possibly in addition to this
// one.
func (r *Room) IsElsewhere(person string) bool {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	return r.presence.isElsewhere(person)
}

// Sessions returns the number of a person's sessions on this node.
func (r *Room) Sessions(person string) int {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	return int(r.presence.sessions[person])
}

// Present returns the persons connected to any node, in no particular order.
func (r *Room) Present() []string {
	p := &r.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all()
	people := make([]string, 0, len(all))
	for person := range all {
		people = append(people, person)
	}
	return people
}
