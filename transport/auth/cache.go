package auth

import "sync"

// sessionCache remembers which cookies verified: checking a signature costs
// 3 us, as much as all the rest of a small read. What a session may do is not
// cached. The two generations bound it.
type sessionCache struct {
	mu       sync.RWMutex
	new, old map[string]cached
}

type cached struct {
	sid string
	at  int64
}

const (
	cacheSize = 16384
	// cacheFor is how long a verified cookie is believed without looking at
	// its expiry again, milliseconds.
	cacheFor = 10_000
)

func (c *sessionCache) get(cookie string, now int64) (string, bool) {
	c.mu.RLock()
	e, ok := c.new[cookie]
	if !ok {
		e, ok = c.old[cookie]
	}
	c.mu.RUnlock()
	return e.sid, ok && now-e.at < cacheFor
}

// forget drops all of them; who comes again is verified again.
func (c *sessionCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.new, c.old = nil, nil
}

func (c *sessionCache) put(cookie, sid string, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.new == nil || len(c.new) >= cacheSize {
		c.old, c.new = c.new, map[string]cached{}
	}
	c.new[cookie] = cached{sid, now}
}
