package room

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Waker is told that a room has something new. Wake is called by the publisher
// after every publication, so it must be cheap, must not block, and should
// coalesce: the listener finds everything that is new in one go.
type Waker interface {
	Wake()
}

// wakers is the set of listeners to wake. It is read on every publication and
// written when a listener comes or goes, so a writer copies the slice.
type wakers struct {
	mu   sync.Mutex
	list atomic.Pointer[[]Waker]
}

func (w *wakers) wake() {
	if list := w.list.Load(); list != nil {
		for _, waker := range *list {
			waker.Wake()
		}
	}
}

// Subscribe adds a listener. Whatever is published after Subscribe has
// returned wakes it; what was before, it reads by position.
func (r *Room) Subscribe(w Waker) {
	r.wakers.mu.Lock()
	defer r.wakers.mu.Unlock()
	var list []Waker
	if old := r.wakers.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	list = append(list, w)
	r.wakers.list.Store(&list)
}

// Unsubscribe removes a listener. A publication that is already under way may
// still wake it once.
func (r *Room) Unsubscribe(w Waker) {
	r.wakers.mu.Lock()
	defer r.wakers.mu.Unlock()
	old := r.wakers.list.Load()
	if old == nil {
		return
	}
	list := slices.DeleteFunc(slices.Clone(*old), func(o Waker) bool { return o == w })
	if len(list) == 0 {
		r.wakers.list.Store(nil)
		return
	}
	r.wakers.list.Store(&list)
}
