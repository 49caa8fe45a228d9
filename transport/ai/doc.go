// Package ai answers questions to a language model as a stream of server-sent
// events (POST /ai/stream).
//
// The handler makes all checks that can refuse a question, notifies the codelab's actor (for the
// audit trail), and hands the connection to a new goroutine. That forwards each piece of the
// upstream's answer when it arrives. If the upstream fails before its first piece, the answer is a
// plain 502, 503 or 504; later failures end the stream with "event: error". A client that leaves
// cancels the upstream call; a slow client slows it down. No actor waits for any of this.
//
// A Service bounds the answers in progress, in total and per person, and the questions per
// person and minute. Close cancels answers in progress and waits.
package ai
