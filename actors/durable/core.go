package durable

import "time"

// Core is the pure part of a persistent actor: C are its commands, E its
// events, V the immutable view that readers get. Its methods are called by
// one goroutine, do no I/O, and look at no clock but Env.
type Core[C, E, V any] interface {
	// Decide returns the decision on a command, and changes nothing. An error is a
	// *Rejection, which is sent to the caller.
	Decide(cmd C, env Env) (Decision[E], error)

	// Apply lets one event change the state. It never fails for an event that
	// Decide gave, and tolerates events whose subject is gone.
	Apply(seq uint64, event E)

	// Capture returns the present state as an immutable view. It is called
	// once for each batch, so it must be cheap: copy on write, not a copy.
	Capture() *V

	// Restore sets the state from an encoded snapshot that contains the events
	// up to seq.
	Restore(seq uint64, state []byte) error
}

// Env is what a decision may depend on beside state and command.
type Env struct {
	// Now is the time of the decision, UTC, whole milliseconds.
	Now time.Time
	// Seq is the seq that the first event of the decision will have.
	Seq uint64
}

// Decision is what an accepted command leads to.
type Decision[E any] struct {
	// Events happen in this order; none means that nothing changes.
	Events []E
	// Rows are committed together with the events, or alone.
	Rows []Row
	// Reply is the value for the caller. It must be immutable.
	Reply any
	// Seq is set when the command had been applied earlier: the seq it had.
	Seq uint64
	// Origin is the live session the command came through, 0 for none.
	Origin uint64
}

// Committed is one event that is on disk.
type Committed[E any] struct {
	Seq    uint64
	Event  E
	Origin uint64
}

// Observer sees what is committed, in order, on the actor's goroutine. It
// must not block.
type Observer[E, V any] interface {
	// Recovered is called for the newest records of the log, as many as
	// Kind.Keep says, oldest first, when an incarnation starts, also for those
	// contained in its snapshot.
	Recovered(seq uint64, event E)
	// Live ends the recovery.
	Live(view *V, seq uint64)
	// Commit is called after each commit, after the new view is readable and
	// before anybody is answered. The slice is valid only during the call.
	Commit(view *V, seq uint64, events []Committed[E])
}

// Kind describes one kind of persistent actor.
type Kind[C, E, V any] struct {
	// Name prefixes the identity in the journal: Name + "/" + id.
	Name string
	// New returns a core with the empty state.
	New func(id string) Core[C, E, V]
	// AppendEvent appends the encoded event to dst.
	AppendEvent func(dst []byte, event E) ([]byte, error)
	// ParseEvent decodes an event; it must copy what it keeps.
	ParseEvent func(record []byte) (E, error)
	// EncodeState encodes a view as a snapshot. It runs on a goroutine of its
	// own, which is why it takes the immutable view.
	EncodeState func(view *V) ([]byte, error)
	// Observe returns the observer of an actor; it is called once per
	// activation and serves all its incarnations. nil for none.
	Observe func(id string, h *Handle[C, E, V]) Observer[E, V]
	// Erases reports whether an event asks for other events to be erased from the
	// log, and Erase which ones, judged by a view that contains the event.
	// Both are nil for a kind that never erases.
	Erases func(event E) bool
	Erase  func(view *V) func(event E) (replacement E, changed bool)
	// Codec encodes commands for the node that owns the actor; required if
	// Options.Cluster is set.
	Codec *Codec[C]
	// Heard receives what other nodes send with Handle.Tell. It must not block.
	// nil: it is dropped.
	Heard func(id, node string, data []byte)
	// FromLog lets followers read the log while the owner cannot be reached, for reads that
	// accept a slightly older state (Host.Near).
	FromLog bool
	// Urgent says of a command that it frees space, so that it is taken while the
	// disk is nearly full. nil: of none.
	Urgent func(cmd C) bool
	// Keep is how many of the newest records stay in the log behind a
	// snapshot.
	Keep uint64
	// MayRest reports whether an idle actor may be put to rest. nil: always.
	MayRest func(id string) bool
	// Rested is called when an actor was stopped for idleness, or its quarantine has ended,
	// before Observe is called for it again. It must not call the host.
	Rested func(id string)
}
