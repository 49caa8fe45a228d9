// Package tokens is the load test of the tokenization handler. Its load is
// open: each pair of a tokenize and a detokenize is planned beforehand, and its
// latency counts from the planned time, so a server that falls behind shows it.
//
// Every pair uses a card number of its own and holds the answer against it. A
// share of the tokens is used by two callers at once: exactly one of them may
// win. Nothing that a run prints holds a card number, a token or a key.
//
// With Live set the test makes that many tokens and leaves them, weighs the
// server, restarts it, and watches it while they all expire within a minute.
package tokens
