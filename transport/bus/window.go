package bus

// windowSerials is the number of messages by which a message can lag behind others from its sender.
// Messages can arrive out of order, because a sender's goroutines take a serial and send in two
// steps.
const windowSerials = 1 << 14

// window accepts each serial of a session only once. A window uses 2 KiB.
type window struct {
	floor, top uint64 // serials up to floor are rejected; top is the highest serial accepted so far
	taken      [windowSerials / 64]uint64
}

// newWindow returns a window that accepts serials above floor.
func newWindow(floor uint64) window { return window{floor: floor, top: floor} }

// admit accepts a serial, or returns the reason for its rejection.
func (w *window) admit(n uint64) Rejection {
	switch {
	case n <= w.floor, w.top-min(w.top, n) >= windowSerials:
		return Late
	case n > w.top:
		w.forget(w.top+1, n)
		w.top = n
	}
	word, bit := &w.taken[n/64%uint64(len(w.taken))], uint64(1)<<(n%64)
	if *word&bit != 0 {
		return Replayed
	}
	*word |= bit
	return accepted
}

// forget clears the bits of the serials from first to last, which older serials have used.
func (w *window) forget(first, last uint64) {
	if last-first >= windowSerials {
		clear(w.taken[:])
		return
	}
	for n := first; n <= last; n++ {
		w.taken[n/64%uint64(len(w.taken))] &^= 1 << (n % 64)
	}
}
