package httpapi

import "sync"

// Places limits concurrent calls, in total and per key, so that one caller cannot use all places.
// The key identifies a caller. Places is safe for concurrent use.
type Places struct {
	all, each int

	mu   sync.Mutex
	held map[string]int // taken places by key, without zeros
	n    int            // the sum of held
}

// NewPlaces returns Places that admit at most all concurrent calls in total, and at most each per
// key.
func NewPlaces(all, each int) *Places { return &Places{all: all, each: each, held: map[string]int{}} }

// Enter takes a place for the key. If none is free, it returns nil and false. leave frees the place,
// and must be called exactly once.
func (p *Places) Enter(key string) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n >= p.all || p.held[key] >= p.each {
		return nil, false
	}
	p.n++
	p.held[key]++
	return func() { p.leave(key) }, true
}

func (p *Places) leave(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n--
	if p.held[key]--; p.held[key] == 0 {
		delete(p.held, key)
	}
}
