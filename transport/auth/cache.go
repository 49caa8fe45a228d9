package auth

import (
	"sync"

	"atelier/actors/login"
)

// sessionCache caches verified cookies, and the key and CSRF token derived from a session's id.
// Verifying a signature takes 3 us, as much as the rest of a small read. The two derivations take
// 1.5 us. Permissions are not cached. The cache has two generations of at most cacheSize cookies
// each; when the new one is full, it replaces the old one.
type sessionCache struct {
	mu       sync.RWMutex
	new, old map[string]*verified
}

// verified contains what is known about a verified cookie.
type verified struct {
	sid  string
	key  login.Key // key of the session in the store
	csrf csrfToken // of the session
	at   int64     // when the cookie was verified, Unix milliseconds
}

const (
	cacheSize = 16384
	// cacheFor is how long a verified cookie is accepted without another check of its signature and
	// expiry, in milliseconds.
	cacheFor = 10_000
)

// get returns nil for a cookie that must be verified.
func (c *sessionCache) get(cookie []byte, now int64) *verified {
	c.mu.RLock()
	e := c.new[string(cookie)]
	if e == nil {
		e = c.old[string(cookie)]
	}
	c.mu.RUnlock()
	if e == nil || now-e.at >= cacheFor {
		return nil
	}
	return e
}

// forget clears the cache. Every cookie is then verified again.
func (c *sessionCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.new, c.old = nil, nil
}

func (c *sessionCache) put(cookie string, v *verified) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.new == nil || len(c.new) >= cacheSize {
		c.old, c.new = c.new, map[string]*verified{}
	}
	c.new[cookie] = v
}
