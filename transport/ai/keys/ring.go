package keys

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"atelier/transport/httpapi"
)

// Bounds on a Ring's derivations.
const (
	// maxRemembered bounds the cached salts. rememberFor bounds how long each salt is cached after
	// its last use.
	maxRemembered = 64
	rememberFor   = 15 * time.Minute
	// maxWaiting bounds the derivations that run or wait for their turn. Callers that share a
	// derivation count once.
	maxWaiting = 64
)

// Slow means that too many keys are being decrypted. After is the delay before a retry.
type Slow struct{ After time.Duration }

func (s *Slow) Error() string { return "too many AI keys to check; try again later" }

// Ring decrypts keys with one password. It is safe for concurrent use.
type Ring struct {
	password string
	seal     *Seal
	now      func() time.Time
	// all limits all derivations. wrong limits the wrong keys of each caller.
	all, wrong *httpapi.Limiter

	turn    chan struct{} // allows one derivation at a time
	waiting chan struct{}

	mu      sync.Mutex // guards the following fields
	secret  [32]byte   // key of the hash under which salts are cached
	known   map[saltID]*remembered
	running map[saltID]*derivation
	stale   saltID // hash of the last stored key that could not be decrypted
}

type saltID [sha256.Size]byte

type remembered struct {
	keys derived
	used time.Time
}

// derivation is a derivation in progress.
type derivation struct {
	done chan struct{} // closed by the deriving goroutine after it has set keys and err
	keys derived
	err  error
}

// NewRing returns a ring for a password. serverKey is the secret that encrypts stored keys.
func NewRing(password, serverKey string, now func() time.Time) (*Ring, error) {
	s, err := NewSeal(serverKey, ForAIKey)
	if err != nil {
		return nil, err
	}
	r := &Ring{
		password: password, seal: s, now: now,
		all:   httpapi.NewLimiter(httpapi.Rate{Burst: 20, Per: 5 * time.Second}, now),
		wrong: httpapi.NewLimiter(httpapi.Rate{Burst: 10, Per: time.Minute}, now),
		turn:  make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting),
		known: map[saltID]*remembered{}, running: map[saltID]*derivation{},
	}
	_, _ = rand.Read(r.secret[:]) // never fails
	return r, nil
}

// Open decrypts a key. who identifies the caller who sent the key. The error is an Invalid
// rejection or *Slow.
func (r *Ring) Open(who, text string) (Key, error) {
	e, err := parse(text)
	if err != nil {
		return Key{}, err
	}
	// The attempt is counted before the outcome is known, so that concurrent attempts cannot exceed
	// the limit.
	if wait := r.wrong.Allow(who); wait > 0 {
		return Key{}, &Slow{wait}
	}
	k, err := r.open(e)
	if !errors.Is(err, errEncrypted) {
		r.wrong.Return(who)
	}
	return k, err
}

// open decrypts e with the keys of its salt, which it looks up or derives. It caches only keys that
// decrypted an envelope, so that a flood of other salts does not evict them.
func (r *Ring) open(e *envelope) (Key, error) {
	id := r.id(e.salt)
	if d, ok := r.recall(id); ok {
		return e.open(&d)
	}
	d, err := r.derive(id, e.salt)
	if err != nil {
		return Key{}, err
	}
	k, err := e.open(&d)
	if err == nil {
		r.remember(id, d)
	}
	return k, err
}

func (r *Ring) id(b []byte) saltID {
	m := hmac.New(sha256.New, r.secret[:])
	m.Write(b)
	return saltID(m.Sum(nil))
}

// derive derives the keys, or waits for a goroutine that is deriving the same keys. It returns
// *Slow if too many derivations wait or were made recently.
func (r *Ring) derive(id saltID, salt []byte) (derived, error) {
	r.mu.Lock()
	if d := r.running[id]; d != nil {
		r.mu.Unlock()
		<-d.done
		return d.keys, d.err
	}
	d := &derivation{done: make(chan struct{})}
	r.running[id] = d
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.running, id)
		r.mu.Unlock()
		close(d.done)
	}()
	select {
	case r.waiting <- struct{}{}:
		defer func() { <-r.waiting }()
	default:
		d.err = &Slow{time.Second}
		return d.keys, d.err
	}
	if wait := r.all.Allow(""); wait > 0 {
		d.err = &Slow{wait}
		return d.keys, d.err
	}
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	d.keys, d.err = derive(r.password, salt)
	return d.keys, d.err
}

func (r *Ring) recall(id saltID) (derived, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for k, m := range r.known {
		if now.Sub(m.used) > rememberFor {
			delete(r.known, k)
		}
	}
	m := r.known[id]
	if m == nil {
		return derived{}, false
	}
	m.used = now
	return m.keys, true
}

func (r *Ring) remember(id saltID, d derived) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxRemembered {
		var oldest saltID
		var at time.Time
		for k, m := range r.known {
			if at.IsZero() || m.used.Before(at) {
				oldest, at = k, m.used
			}
		}
		delete(r.known, oldest)
	}
	r.known[id] = &remembered{d, r.now()}
}

// Seal encrypts an encrypted key again, for the store.
func (r *Ring) Seal(text string) []byte { return r.seal.Close(text) }

// OpenStored decrypts the result of Seal. It returns false without an error if the password has
// changed, the store belongs to another server, or the data is damaged. It returns a *Slow if too
// many keys are being decrypted. The last key that the password did not open is not tried again.
func (r *Ring) OpenStored(sealed []byte) (Key, bool, error) {
	text, ok := r.seal.Open(sealed)
	if !ok {
		return Key{}, false, nil
	}
	id := r.id([]byte(text))
	r.mu.Lock()
	stale := r.stale == id
	r.mu.Unlock()
	if stale {
		return Key{}, false, nil
	}
	e, err := parse(text)
	if err != nil {
		return Key{}, false, nil
	}
	k, err := r.open(e)
	if errors.Is(err, errEncrypted) {
		r.mu.Lock()
		r.stale = id
		r.mu.Unlock()
		return Key{}, false, nil
	}
	return k, err == nil, err
}
