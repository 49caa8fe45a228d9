// Package live sends a room's frames to its WebSocket and SSE connections, ten thousand of them in
// one room.
//
// # What it owns
//
// A [Hub] has a few event loops. Each connection belongs to exactly one loop. On Linux only that
// loop's goroutine reads and writes a TCP socket, and an idle connection costs 1.1 kB, or 8 kB with
// TLS (see [Beneath]). Any other connection has two more goroutines and costs about 20 kB.
//
// The package treats frames as opaque. The loop passes the client's messages to the session's
// [Handler], which answers through [Session.Send]. DESIGN.md explains the design and its reasons.
//
// # Order
//
// On one session, stored frames arrive in the order of their seq, each exactly once. Only a resync
// skips frames. A private payload that is sent after frame M was published arrives after every
// frame up to M for the session. An ack with seq M therefore means that everything up to M has
// arrived. Private payloads arrive in the order of the calls to Send. Joining is one step: the
// welcome, then the missed frames or a resync, then the published frames. Transient frames keep
// their own order, but have no fixed place among stored frames and private payloads.
//
// # Back-pressure
//
// A loop never waits for a client. A session falls behind if its socket does not accept everything.
// The session keeps its position to the byte. It continues when its socket has room, from segments
// that it shares with other lagging sessions. A partial frame is always completed. Each of these
// bounds has a counter:
//
//   - If a session lags by too many bytes or for too long, or the room's window no longer has its
//     next frame, it is sent a resync and continues from the present (Stats.Resyncs).
//   - If its socket accepts no byte for too long, its connection is aborted without a close frame
//     (ReasonStalled).
//   - If its private queue is full, it is closed with 1013 (ReasonOverflow).
//   - If transients have left the room's ring, it misses them (Stats.MissedTransients).
//
// There is never a silent gap among stored frames.
//
// # Concurrency
//
// The methods of Hub, and Send and Close of Session, can be called from any goroutine. A Handler is
// called on loop goroutines and must not block. Callers must not modify a payload after they have
// passed it to Send.
//
// # Failure
//
// A connection that fails is closed, counted by [Reason] and reported to its Handler. A client that
// reconnects with its last position gets the missed frames. A panic of a Handler is not recovered:
// it ends the process.
package live
