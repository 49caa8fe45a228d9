package durable

import "time"

// Core is the pure part of a persistent actor. C is the type of its commands, E of its events, and
// V of the immutable view for readers. Its methods are called by one goroutine, do no I/O, and use
// no clock except Env.
type Core[C, E, V any] interface {
	// Decide returns the decision on a command without changing anything. Its error is sent to the
	// caller. It is a *Rejection or one of this package's errors, possibly wrapped.
	Decide(cmd C, env Env) (Decision[E], error)

	// Apply applies one event to the state. It never fails for an event that Decide returned, and
	// tolerates events whose subject no longer exists.
	Apply(seq uint64, event E)

	// Capture returns the current state as an immutable view. It is called once per batch and must
	// be cheap, so the state uses copy on write.
	Capture() *V

	// Restore sets the state from an encoded snapshot that includes the events up to seq.
	Restore(seq uint64, state []byte) error
}

// Env contains the data on which a decision can depend, in addition to state and command.
type Env struct {
	// Now is the time of the decision, UTC, whole milliseconds.
	Now time.Time
	// Seq is the seq that the first event of the decision will have.
	Seq uint64
}

// Decision is the outcome of an accepted command.
type Decision[E any] struct {
	// Events are applied in this order; an empty list means no change.
	Events []E
	// Rows are committed together with the events, or alone.
	Rows []Row
	// Reply is the value for the caller. It must be immutable.
	Reply any
	// Seq is the seq of the earlier execution if the command was already applied, otherwise 0.
	Seq uint64
	// Origin is the live session that sent the command, or 0.
	Origin uint64
}

// Committed is a committed event.
type Committed[E any] struct {
	Seq    uint64
	Event  E
	Origin uint64
}

// Observer receives the committed events, in order, on the actor's goroutine. It must not block.
type Observer[E, V any] interface {
	// Recovered is called when an incarnation starts, for the newest Kind.Keep records of the log,
	// oldest first, including records that the snapshot already contains.
	Recovered(seq uint64, event E)
	// Live ends the recovery.
	Live(view *V, seq uint64)
	// Commit is called after each commit, after the new view is published and before any answer.
	// The slice is valid only during the call.
	Commit(view *V, seq uint64, events []Committed[E])
}

// Kind describes one kind of persistent actor.
type Kind[C, E, V any] struct {
	// Name is the first part of an actor's identity in the journal: Name + "/" + id.
	Name string
	// New returns a core with the empty state.
	New func(id string) Core[C, E, V]
	// AppendEvent appends the encoded event to dst.
	AppendEvent func(dst []byte, event E) ([]byte, error)
	// ParseEvent decodes an event; it must copy any data that it keeps.
	ParseEvent func(record []byte) (E, error)
	// EncodeState encodes a view as a snapshot. It runs on a separate goroutine, which is safe
	// because a view is immutable.
	EncodeState func(view *V) ([]byte, error)
	// Observe returns the observer of an actor. It is called once per activation, and the observer
	// serves all incarnations. nil means that the actors have no observers.
	Observe func(id string, h *Handle[C, E, V]) Observer[E, V]
	// Erases reports whether an event requests the erasure of other events from the log. Erase
	// returns a function that erases data from one event, for a view that includes the requesting
	// event. Both are nil for a kind that never erases.
	Erases func(event E) bool
	Erase  func(view *V) func(event E) (replacement E, changed bool)
	// Codec encodes commands for the node that owns the actor. It is required if Options.Cluster is
	// set.
	Codec *Codec[C]
	// Receive receives the messages that other nodes send with Handle.Broadcast. It must not block.
	// nil drops them.
	Receive func(id, node string, data []byte)
	// FromLog lets followers read the log while the owner cannot be reached, so that reads that
	// accept a slightly older state (Host.Near) still succeed.
	FromLog bool
	// Urgent reports whether a command frees space and is therefore accepted while the disk is
	// nearly full. nil means never.
	Urgent func(cmd C) bool
	// Keep is how many of the newest records are kept in the log after a snapshot.
	Keep uint64
	// MayRest reports whether an idle actor can be stopped. nil means always.
	MayRest func(id string) bool
	// Rested is called after an actor was stopped, or its quarantine has ended, before Observe is
	// called for it again. It must not call the host.
	Rested func(id string)
}
