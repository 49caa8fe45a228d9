package messages

import (
	"slices"
	"sync"
	"time"

	"atelier/transport/live"
)

// registry knows the live sessions of each login session, so that they end
// with it. The zero value is empty. Safe for concurrent use.
type registry struct {
	mu    sync.Mutex
	byKey map[string]*group
}

// group is the live sessions of one login session. Guarded by the registry.
type group struct {
	key  string
	live []*live.Session
}

// add notes a live session; the group stays the same when the login session
// gets a new id.
func (r *registry) add(key string, s *live.Session) *group {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.byKey[key]
	if g == nil {
		if r.byKey == nil {
			r.byKey = map[string]*group{}
		}
		g = &group{key: key}
		r.byKey[key] = g
	}
	g.live = append(g.live, s)
	return g
}

func (r *registry) remove(g *group, s *live.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(g.live, s); i >= 0 {
		g.live = slices.Delete(g.live, i, i+1)
	}
	if len(g.live) == 0 && r.byKey[g.key] == g {
		delete(r.byKey, g.key)
	}
}

func (r *registry) take(key string) []*live.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.byKey[key]
	if g == nil {
		return nil
	}
	delete(r.byKey, key)
	return slices.Clone(g.live)
}

func (r *registry) rename(from, to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.byKey[from]; g != nil {
		delete(r.byKey, from)
		g.key = to
		r.byKey[to] = g
	}
}

// each calls fn for every live session.
func (r *registry) each(fn func(*live.Session)) {
	r.mu.Lock()
	var all []*live.Session
	for _, g := range r.byKey {
		all = append(all, g.live...)
	}
	r.mu.Unlock()
	for _, s := range all {
		fn(s)
	}
}

// SessionChanged tells that a login session got a new id; its connections
// stay.
func (g *Gateway) SessionChanged(from, to string) {
	if from != "" {
		g.registry.rename(from, to)
	}
}

// SessionEnded closes the connections of a login session or API token.
func (g *Gateway) SessionEnded(key string) {
	for _, s := range g.registry.take(key) {
		s.Close(live.ClosePolicy, "logged out")
	}
}

// expire closes connections whose grant has ended.
func (g *Gateway) expire() {
	tick := time.NewTicker(30 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-tick.C:
			now := g.Now().UnixMilli()
			g.registry.each(func(s *live.Session) {
				if p := s.Data.(*peer); p.ends != 0 && p.ends <= now {
					s.Close(live.ClosePolicy, "session expired")
				}
			})
		}
	}
}
