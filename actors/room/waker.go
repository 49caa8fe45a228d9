package room

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Waker is notified of new frames in a room. The publisher calls Wake after every publication, so
// Wake must be cheap and must not block. Several calls can lead to one read, in which the listener
// gets all new frames.
type Waker interface {
	Wake()
}

// wakers is the set of listeners to wake. It is read on every publication, but rarely changed, so
// every change copies the slice.
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

// Subscribe adds a listener. Frames that are published after Subscribe has returned wake the
// listener; the listener reads earlier frames by position.
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

// Unsubscribe removes a listener. A concurrent publication can still wake it once.
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
