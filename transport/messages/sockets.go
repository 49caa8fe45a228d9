package messages

import (
	"slices"
	"sync"

	"atelier/actors/codelab"
)

// openedElsewhere is the close code for the oldest connections of a person who has too many.
// Clients do not reconnect automatically after this code.
const openedElsewhere = 4008

// FacilitatorSockets is the connection limit of a facilitator's session, over all codelabs, as a
// multiple of an attendee's limit in one codelab.
const FacilitatorSockets = 8

// sockets contains the live connections by owner, oldest first, and their number by address. The
// zero value is empty.
type sockets struct {
	mu   sync.Mutex
	of   map[string][]*peer // guarded by mu
	from map[string]int     // guarded by mu
}

// owner returns the key under which a connection is counted, and the maximum number per key. The key
// identifies a facilitator's session or API token, or an attendee of a codelab. The number 0 means
// no limit.
func (p *peer) owner() (key string, most int) {
	if most = p.g.SocketsPerPerson; p.who.Role == codelab.RoleAdmin {
		return p.standing.Key(), most * FacilitatorSockets
	}
	return p.lab.ID() + " " + p.who.ID, most
}

// full reports whether an address has its maximum number of connections. If most is 0, the number
// is not limited.
func (s *sockets) full(address string, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return most > 0 && s.from[address] >= most
}

// enter adds a connection.
func (s *sockets) enter(p *peer) {
	key, _ := p.owner()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of, s.from = map[string][]*peer{}, map[string]int{}
	}
	s.of[key] = append(s.of[key], p)
	s.from[p.address]++
}

// surplus removes an owner's connections above the limit, and returns them, oldest first.
func (s *sockets) surplus(p *peer) (tooMany []*peer) {
	key, most := p.owner()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.of[key]) - most; most > 0 && n > 0 {
		tooMany = slices.Clone(s.of[key][:n])
		for _, old := range tooMany {
			s.remove(key, old)
		}
	}
	return tooMany
}

// leave removes an ended connection, if present.
func (s *sockets) leave(p *peer) {
	key, _ := p.owner()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(key, p)
}

// remove removes a connection like leave; the caller must hold mu.
func (s *sockets) remove(key string, p *peer) {
	i := slices.Index(s.of[key], p)
	if i < 0 {
		return
	}
	if s.of[key] = slices.Delete(s.of[key], i, i+1); len(s.of[key]) == 0 {
		delete(s.of, key)
	}
	if s.from[p.address]--; s.from[p.address] == 0 {
		delete(s.from, p.address)
	}
}

// makeRoom closes an owner's connections above the limit.
func (g *Gateway) makeRoom(p *peer) {
	for _, old := range g.sockets.surplus(p) {
		old.replace()
	}
}

// replace closes a connection in favour of a newer one. If the connection has no session yet, the
// goroutine that attaches it closes the connection; see joined.
func (p *peer) replace() {
	p.over.Store(true) // ignore its further messages
	p.replaced.Store(true)
	if s := p.session.Load(); s != nil {
		s.Close(openedElsewhere, "opened elsewhere")
	}
}
