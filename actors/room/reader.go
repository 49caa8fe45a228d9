package room

// After appends to dst the stored frames after seq, at most maxBytes of payload but at least one
// frame. to is the position reached: Head if no further frame follows, and otherwise the last
// frame's seq. After returns dst unchanged and false if seq is older than Floor or newer than
// Head.
func (r *Room) After(seq uint64, dst []Frame, maxBytes int) (frames []Frame, to uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	head := r.head.Load()
	if seq < r.log.floor || seq > head {
		return dst, seq, false
	}
	frames, all := r.log.after(seq, dst, maxBytes)
	if all {
		return frames, head, true
	}
	return frames, frames[len(frames)-1].Seq, true
}

// Behind returns the number of payload bytes in the log after seq.
func (r *Room) Behind(seq uint64) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.behind(seq)
}

// TransientHead returns the position of the newest transient.
func (r *Room) TransientHead() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.transientHead
}

// TransientsAfter appends to dst the transients after position pos, at most maxBytes of payload but
// at least one frame. to is the position reached. missed is the number of transients after pos that
// have already left the ring.
func (r *Room) TransientsAfter(pos uint64, dst []Frame, maxBytes int) (frames []Frame, to, missed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if floor := r.transients.floor; pos < floor {
		missed = floor - pos
		pos = floor
	}
	start := len(dst)
	frames, _ = r.transients.after(pos, dst, maxBytes)
	for i := start; i < len(frames); i++ {
		frames[i].Seq = 0
	}
	return frames, pos + uint64(len(frames)-start), missed
}
