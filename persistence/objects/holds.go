package objects

import "sync"

// maxPostponed bounds the removals that Holds postpones. The owner's next sweep makes the
// removals beyond this bound.
const maxPostponed = 100_000

// Holds counts the backups of this process that are in progress, and postpones removals until the
// last backup has ended. The zero value has no backup. It is safe for concurrent use.
type Holds[T any] struct {
	mu  sync.Mutex
	n   int
	due []T
}

// Begin begins a backup, which release ends. Further calls of release do nothing. At the end of the
// last backup, release calls remove for each postponed removal.
func (h *Holds[T]) Begin(remove func(T)) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
	return sync.OnceFunc(func() {
		for _, removal := range h.end() {
			remove(removal)
		}
	})
}

// end ends a backup, and returns the removals that are due.
func (h *Holds[T]) end() (due []T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n--; h.n == 0 {
		due, h.due = h.due, nil
	}
	return due
}

// Postpone reports whether a backup is in progress. If so, it postpones the removal,
// unless maxPostponed removals are already waiting.
func (h *Holds[T]) Postpone(removal T) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n > 0 && len(h.due) < maxPostponed {
		h.due = append(h.due, removal)
	}
	return h.n > 0
}

// Any reports whether a backup is in progress.
func (h *Holds[T]) Any() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n > 0
}
