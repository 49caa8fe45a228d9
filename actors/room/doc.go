// Package room is the live side of one codelab: what was said, what is being
// said, and who is there to hear it.
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
// Publishing costs the same whether nobody listens or ten thousand do, and it
// never waits for a listener. Readers pull: they name the position they have
// reached and get what follows, in order and without a hole, or are told that
// the window has moved past them. That is the whole policy for slow readers on
// this side; what to do with one that was overtaken is the reader's business.
//
// Between stored frames and transients no order is promised.
//
// # Failure
//
// Nothing here can fail. After a restart of the actor, Restore fills the
// window again from the journal; listeners that stayed connected go on from
// the position they had, so a frame that was committed but not yet published
// when the actor fell reaches them then.
package room
