// Package tokens is the load test of the tokenization handler. Its load is open. Each pair
// of a tokenize and a detokenize is planned beforehand, and its latency counts from the
// planned time, so a server that falls behind shows it.
//
// Every pair uses a card number of its own and compares the answer with it. Some of the
// tokens are used by two callers at once, of which exactly one may win. The output of a run
// never has a card number, a token or a key.
//
// With Live set the test makes that many tokens and leaves them, measures the server's
// memory, restarts it, and watches it while they all expire within a minute.
package tokens
