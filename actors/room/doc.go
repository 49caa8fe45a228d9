// Package room contains the live data of one codelab: stored messages, transient messages, and the
// people present.
//
// # What it owns
//
// A [Room] has three parts. The log is a bounded window of stored frames in the order of their
// sequence numbers, for replay to returning listeners. The transients are a small ring of
// short-lived frames: summaries, presence, the state of a shared screen. The presence counts the
// sessions of each person. Frames are opaque, encoded bytes; the package contains no JSON, sockets
// or disk.
//
// # Concurrency
//
// One goroutine writes the log: the codelab's actor calls Publish, Advance, Restore, Rewrite and
// Withdraw. Connect must be called before anybody connects. Every other method can be called from
// any goroutine. A payload is immutable once it is published: readers get the same bytes and never
// a copy.
//
// # Order and back-pressure
//
// Publishing takes about the same time for no reader and for ten thousand, and never waits for a
// reader. Readers pull: they pass their position and get the following frames, in order and without
// a gap, or an error that the window has moved past them. The room does nothing else about slow
// readers; each reader decides how to recover from the error. The order between stored frames and
// transients is not defined.
//
// # Failure
//
// The room's methods cannot fail. After a restart of the actor, Restore refills the window from the
// journal. Connected listeners continue from their position, so that they receive a frame that was
// committed but not yet published when the actor failed.
package room
