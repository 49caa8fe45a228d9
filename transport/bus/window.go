package bus

// windowSerials is how far a message may fall behind others of its sender, in
// messages: the goroutines of a sender take a serial and send in two steps.
const windowSerials = 1 << 14

// window takes each serial of a session once, in 2 KiB.
type window struct {
	floor, top uint64 // nothing at or below floor is taken; top is the highest taken
	taken      [windowSerials / 64]uint64
}

// newWindow returns a window that takes what is above floor.
func newWindow(floor uint64) window { return window{floor: floor, top: floor} }

// admit takes a serial, or says why not.
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

// forget clears the places of the serials from first to last, which those behind
// the window had.
func (w *window) forget(first, last uint64) {
	if last-first >= windowSerials {
		clear(w.taken[:])
		return
	}
	for n := first; n <= last; n++ {
		w.taken[n/64%uint64(len(w.taken))] &^= 1 << (n % 64)
	}
}
