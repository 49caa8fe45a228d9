package room

import "sync"

// presence counts the sessions of each person.
type presence struct {
	mu sync.Mutex
	// Guarded by mu. Nil while nobody has ever come.
	sessions map[string]int32
}

// Join notes one more session of a person and reports whether it is the
// person's first, that is, whether the person has just arrived.
func (r *Room) Join(person string) (first bool) {
	p := &r.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions == nil {
		p.sessions = make(map[string]int32)
	}
	p.sessions[person]++
	return p.sessions[person] == 1
}

// Leave notes one session less and reports whether it was the person's last.
// Leaving without having joined changes nothing.
func (r *Room) Leave(person string) (last bool) {
	p := &r.presence
	p.mu.Lock()
	defer p.mu.Unlock()
	switch n := p.sessions[person]; n {
	case 0:
		return false
	case 1:
		delete(p.sessions, person)
		if len(p.sessions) == 0 {
			// A map never gives memory back; a room that emptied should.
			p.sessions = nil
		}
		return true
	default:
		p.sessions[person] = n - 1
		return false
	}
}

// Online returns how many persons are connected.
func (r *Room) Online() int {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	return len(r.presence.sessions)
}

// Sessions returns how many sessions a person has.
func (r *Room) Sessions(person string) int {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	return int(r.presence.sessions[person])
}

// Present returns the persons connected, in no order.
func (r *Room) Present() []string {
	r.presence.mu.Lock()
	defer r.presence.mu.Unlock()
	people := make([]string, 0, len(r.presence.sessions))
	for person := range r.presence.sessions {
		people = append(people, person)
	}
	return people
}
