// Package ai answers questions to a language model as a stream of server-sent events
// (POST /ai/stream).
//
// The handler checks the question, records it in an audit trail, and hands the connection to a new
// goroutine. The goroutine checks the limits and the caller's grant again, because they can change
// in between. It forwards each piece of the upstream's answer when the piece arrives. If the
// upstream fails before its first piece, the response is a plain 502, 503 or 504. Later failures
// end the stream with "event: error". A client that disconnects cancels the upstream call; a slow
// client slows the call down. No actor waits for the answer.
//
// A Service bounds the answers in progress, in total and per person, and the questions per person
// and minute. Close lets answers in progress finish until its context ends, and then cancels them.
package ai
