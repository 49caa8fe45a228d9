// Package ai answers questions to a language model as a stream of server-sent
// events (POST /ai/stream).
//
// The handler checks everything that can be refused, tells the codelab's actor
// (which audits), and hands the connection to a goroutine of its own. From
// there each piece of the upstream's answer goes to the client as it comes. An
// upstream that fails before its first piece is a plain 502, 503 or 504; one
// that fails later ends the stream with "event: error". A client that leaves
// cancels the upstream call; a client that is slow slows it down. No actor
// waits for any of it.
//
// A Service bounds the answers in progress, in total and per person, and the questions per
// person and minute. Close cancels answers in progress and waits.
package ai
