// Package durable is the runtime in which every persistent actor runs.
//
// An actor is a pure Core, which decides commands and applies events. The thin runtime around it
// owns everything impure: the mailbox, the journal, the clock, replies and supervision. A command
// is processed like this:
//
//  1. Handle.Ask or Handle.Submit sends the command to the actor's mailbox. The send never blocks:
//     too many open commands cause ErrBusy.
//  2. The runtime calls Core.Decide. A rejection is answered immediately. Events are applied to the
//     state before they are committed, and collected in a batch.
//  3. Once the commands in the mailbox have joined the batch, it goes to the Journal, which commits
//     the queued batches of all actors in one transaction. Commands that arrive while a batch is in
//     flight join the next batch. The next batch is sent when it has as many events as the batch in
//     flight, or when the batch in flight is committed.
//  4. After the commit, the runtime publishes the new read view, then calls the observer (frames
//     for the room), then sends the replies.
//
// DESIGN.md explains the reasons.
//
// As a result, an acknowledged command is stored, a view never shows uncommitted state, and a read
// after an answer shows the command's effect.
//
// A failed commit, a damaged record or a panic in Apply ends the incarnation. Waiting callers get
// ErrUnavailable. The supervisor restarts the actor from the journal after a backoff, and
// quarantines it after several failures. Messages of an old incarnation are recognized and ignored.
// A panic in Decide fails only its command, because Decide changes nothing.
//
// Queues: each actor has at most Options.MaxPending unanswered commands and at most
// Options.MaxBatchBytes of events waiting to be appended. Further commands get ErrBusy.
//
// # Several nodes
//
// If Options.Cluster is set, each actor is a role. The role contains the runtime if this node owns
// the actor, otherwise a follower with a replica of the actor's state. role.go, forward.go,
// follower.go, replica.go and divergence.go implement these. owner.go sends committed batches to
// followers, interconnect.go contains the messages between nodes, and codec.go encodes commands for
// other nodes. cluster.go and placement.go are the cluster parts of a handle and a host. A single
// server uses none of these files.
package durable
