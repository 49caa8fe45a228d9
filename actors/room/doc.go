// Package room is the live side of one codelab: what was said, what is being
// said, and who is present.
//
// # What it owns
//
// A [Room] holds three things. The log is a bounded window of stored frames in
// the order of their sequence numbers, from which a listener that was away is
// caught up. The transients are a small ring of frames that are worth
// something only now: summaries, presence, the state of a shared screen. The
// presence counts the sessions of each person. Frames are opaque bytes that
// somebody else encoded; the package knows no JSON, no sockets and no disk.
//
// # Concurrency
//
// One goroutine writes: the codelab's actor calls Publish, Transient, Advance,
// Restore and Rewrite. Every other method may be called from any goroutine.
// A payload is immutable from the moment it is published: readers are handed
// the same bytes and never a copy.
//
// # Order and back-pressure
//
// Publishing costs the same for nobody and for ten thousand readers, and never waits for a
// reader. Readers pull: they name their position and get the following frames, in order and
// without a gap, or an error that the window has moved past them. The room has no other
// policy for slow readers; the reader decides how to recover.
//
// Between stored frames and transients no order is promised.
//
// # Failure
//
// Nothing here can fail. After a restart of the actor, Restore fills the window again from
// the journal. Listeners that stayed connected continue from their position, so they
// receive a frame that was committed but not yet published when the actor failed.
package room
