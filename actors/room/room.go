package room

import (
	"sync"
	"sync/atomic"

	"atelier/actors/clock"
)

// Limits bounds the frames in a room. A field of 0 or less selects its default.
type Limits struct {
	// Frames is the maximum number of stored frames kept for replay. Default 50,000.
	Frames int
	// Bytes is the maximum number of payload bytes kept for replay. Default 64 MiB.
	Bytes int
	// Transients is the maximum number of transient frames. Default 256.
	Transients int
	// TransientBytes is the maximum number of transient payload bytes. Default 1 MiB.
	TransientBytes int
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&l.Frames, 50_000},
		{&l.Bytes, 64 << 20},
		{&l.Transients, 256},
		{&l.TransientBytes, 1 << 20},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return l
}

// Room is the live data of one codelab. An empty room takes about 350 bytes.
type Room struct {
	// Immutable after New.
	epoch string
	// Immutable after New.
	limits Limits

	// head is the seq up to which the log is complete. The publisher writes it under mu, and any
	// goroutine reads it.
	head atomic.Uint64
	// revision is the number of times that published frames were replaced. The publisher writes it
	// under mu, and any goroutine reads it.
	revision atomic.Uint64

	mu sync.Mutex
	// log contains the frames with a seq, for replay. Guarded by mu.
	log window
	// transients contains frames without a seq. In the ring, their Seq is the ring's own counter,
	// which is removed before a reader gets them. Guarded by mu.
	transients window
	// later contains transients that wait for the next frame, at most one per audience. Guarded by
	// mu.
	later []Frame
	// transientHead is the number of all transients so far. Guarded by mu.
	transientHead uint64

	presence presence
	wakers   wakers
	// link is nil on a single server. It is immutable after the first connection.
	link  Link
	clock clock.Clock
}

// New returns an empty room. The epoch identifies the stream. Positions of different epochs cannot
// be compared.
func New(epoch string, limits Limits) *Room {
	return &Room{epoch: epoch, limits: limits.withDefaults()}
}

// Epoch returns the epoch of the stream.
func (r *Room) Epoch() string { return r.epoch }

// Head returns the seq up to which everything is published.
func (r *Room) Head() uint64 { return r.head.Load() }

// Revision changes whenever published frames are replaced: cached copies must then be dropped.
func (r *Room) Revision() uint64 { return r.revision.Load() }

// Floor returns the oldest position from which the log can be replayed.
func (r *Room) Floor() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.floor
}

// Publish appends stored frames, in increasing order of Seq, and wakes the listeners. A frame at or
// below Head is ignored, because an actor that failed just after publishing can publish the same
// commit again.
//
// The cost per frame is constant, about 50 ns, for any number of sessions. Publish also wakes each
// subscribed Waker once; one Waker can serve many sessions.
func (r *Room) Publish(frames ...Frame) {
	r.mu.Lock()
	head := r.head.Load()
	everyone := false
	for _, f := range frames {
		if f.Seq > head {
			r.log.append(f, r.limits.Frames, r.limits.Bytes)
			head = f.Seq
			everyone = everyone || f.Audience == Everyone
		}
	}
	r.head.Store(head)
	if everyone {
		r.accompany()
	}
	r.mu.Unlock()
	r.wakers.wake()
}

// Transient appends short-lived frames. Their Seq is ignored. A listener that falls behind by more
// than the ring holds misses the oldest.
func (r *Room) Transient(frames ...Frame) {
	r.mu.Lock()
	r.pass(frames)
	r.mu.Unlock()
	r.wakers.wake()
}

// Broadcast does the same as Transient for the listeners of all nodes.
func (r *Room) Broadcast(frames ...Frame) {
	r.Transient(frames...)
	if r.link != nil {
		r.link.Passed(frames)
	}
}

// Later is like Transient, for a frame that can be delayed. The frame is sent with the next stored
// frame for everyone, in the same write to each listener, or by Flush. It replaces a waiting frame
// for the same Audience. Because People are not compared, Later is not for frames to individual
// persons. Without Later, a summary to ten thousand listeners would take ten thousand separate
// writes of 5 us each.
func (r *Room) Later(f Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.later {
		if r.later[i].Audience == f.Audience {
			r.later[i] = f
			return
		}
	}
	r.later = append(r.later, f)
}

// Flush sends the waiting frames.
func (r *Room) Flush() {
	r.mu.Lock()
	waited := len(r.later) > 0
	r.accompany()
	r.mu.Unlock()
	if waited {
		r.wakers.wake()
	}
}

// accompany publishes the waiting frames as transients. The caller holds mu.
func (r *Room) accompany() {
	r.pass(r.later)
	clear(r.later)
	r.later = r.later[:0]
}

// pass appends transients. The caller holds mu.
func (r *Room) pass(frames []Frame) {
	for _, f := range frames {
		r.transientHead++
		f.Seq = r.transientHead
		r.transients.append(f, r.limits.Transients, r.limits.TransientBytes)
	}
}

// Advance moves Head over events without a frame. It wakes nobody, because there is nothing to
// send.
func (r *Room) Advance(seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq > r.head.Load() {
		r.head.Store(seq)
	}
}

// Restore replaces the log with frames, which are those of the journal after floor. head is the seq
// of the journal's last event. It can be called while listeners are connected; listeners behind the
// last frame get the missing frames. Head never moves back.
func (r *Room) Restore(frames []Frame, floor, head uint64) {
	r.mu.Lock()
	log := window{floor: floor}
	last := floor
	for _, f := range frames {
		if f.Seq <= last {
			continue
		}
		last = f.Seq
		f.Origin = 0
		log.append(f, r.limits.Frames, r.limits.Bytes)
	}
	r.log = log
	r.head.Store(max(r.head.Load(), last, head))
	r.revision.Add(1)
	r.mu.Unlock()
	r.wakers.wake()
}

// Rewrite passes every stored frame to edit and keeps the result, or drops the frame if edit
// returns false. The seq cannot be changed. The new payload must be new bytes, because a socket can
// still use the old ones. All transients are dropped, because they can also contain data that is to
// be erased.
func (r *Room) Rewrite(edit func(Frame) (Frame, bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.edit(edit)
	r.transients = window{floor: r.transientHead}
	r.later = nil
}

// Withdraw edits the frames like Rewrite, but without erasure. The transients remain, because a
// listener that waits for one of them might never get another.
func (r *Room) Withdraw(edit func(Frame) (Frame, bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.edit(edit)
}

// edit applies edit to the log. The caller holds mu.
func (r *Room) edit(edit func(Frame) (Frame, bool)) {
	log := window{floor: r.log.floor}
	for i := range r.log.count {
		f := r.log.at(i).frame
		edited, keep := edit(f)
		if !keep {
			continue
		}
		edited.Seq = f.Seq
		log.append(edited, r.limits.Frames, r.limits.Bytes)
	}
	r.log = log
	r.revision.Add(1)
}
