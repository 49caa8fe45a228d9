package room

import "sort"

// window is a bounded sequence of frames in the order of their seq, in a ring buffer that grows by
// doubling. Not safe for concurrent use.
type window struct {
	// ring contains the entries; its length is zero or a power of two.
	ring []entry
	// first is the index of the oldest entry in ring.
	first int
	// count is the number of entries.
	count int
	// bytes is the size of the payloads in the window.
	bytes int
	// total is the size of all payloads ever appended.
	total uint64
	// floor is the seq of the newest frame that has left the window, or the position at which the
	// window began. Sessions that have received everything up to floor can be served from the
	// window.
	floor uint64
}

// entry is a frame and its end in the stream of payload bytes. The difference of two ends is the
// number of bytes by which a listener is behind.
type entry struct {
	frame Frame
	end   uint64
}

// smallestRing is the size of the first allocation. It is small, because most rooms have few
// messages.
const smallestRing = 8

func (w *window) at(i int) *entry {
	return &w.ring[(w.first+i)&(len(w.ring)-1)]
}

// append adds a frame, and drops the oldest frames until maxFrames and maxBytes hold again. The
// newest frame always remains, regardless of its size.
func (w *window) append(f Frame, maxFrames, maxBytes int) {
	if w.count == len(w.ring) {
		w.grow()
	}
	w.total += uint64(len(f.Payload))
	w.bytes += len(f.Payload)
	w.count++
	*w.at(w.count - 1) = entry{frame: f, end: w.total}
	for w.count > 1 && (w.count > maxFrames || w.bytes > maxBytes) {
		w.evict()
	}
}

func (w *window) evict() {
	e := w.at(0)
	w.floor = e.frame.Seq
	w.bytes -= len(e.frame.Payload)
	*e = entry{}
	w.first = (w.first + 1) & (len(w.ring) - 1)
	w.count--
}

func (w *window) grow() {
	ring := make([]entry, max(smallestRing, 2*len(w.ring)))
	for i := range w.count {
		ring[i] = *w.at(i)
	}
	w.ring, w.first = ring, 0
}

// search returns the index of the first entry after seq, or count if no entry follows.
func (w *window) search(seq uint64) int {
	if w.count == 0 || w.at(w.count-1).frame.Seq <= seq {
		return w.count
	}
	return sort.Search(w.count, func(i int) bool { return w.at(i).frame.Seq > seq })
}

// after appends the frames after seq to dst: at most maxBytes of payload, but at least one frame if
// there is any. all is false if further frames remain.
func (w *window) after(seq uint64, dst []Frame, maxBytes int) (frames []Frame, all bool) {
	size := 0
	for i := w.search(seq); i < w.count; i++ {
		f := &w.at(i).frame
		size += len(f.Payload)
		if size > maxBytes && size > len(f.Payload) {
			return dst, false
		}
		dst = append(dst, *f)
	}
	return dst, true
}

// behind returns the number of payload bytes after seq.
func (w *window) behind(seq uint64) uint64 {
	i := w.search(seq)
	if i == w.count {
		return 0
	}
	e := w.at(i)
	return w.total - e.end + uint64(len(e.frame.Payload))
}
