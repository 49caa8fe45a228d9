package calls

import "sync"

// KeyLocks provides one mutex per actor, which exists only while it is held or requested. It
// serializes the operations that read an actor's data and then change it: opening a log, storing a
// snapshot with its truncation, rewriting, and purging. Appends never take it.
type KeyLocks struct {
	mu    sync.Mutex
	locks map[string]*keyLock // guarded by mu
}

type keyLock struct {
	sync.Mutex
	users int // guarded by KeyLocks.mu
}

// NewKeyLocks returns unlocked locks.
func NewKeyLocks() *KeyLocks { return &KeyLocks{locks: make(map[string]*keyLock)} }

// Lock waits for the key's lock and returns the function that unlocks it.
func (k *KeyLocks) Lock(key string) (unlock func()) {
	k.mu.Lock()
	l := k.locks[key]
	if l == nil {
		l = &keyLock{}
		k.locks[key] = l
	}
	l.users++
	k.mu.Unlock()

	l.Lock()
	return func() {
		l.Unlock()
		k.mu.Lock()
		if l.users--; l.users == 0 {
			delete(k.locks, key)
		}
		k.mu.Unlock()
	}
}
