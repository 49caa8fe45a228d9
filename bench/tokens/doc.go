// Package tokens is the load test of the tokenization handler. Its load is open. Each pair
// of a tokenize and a detokenize is planned beforehand, and its latency counts from the
// planned time, so a server that falls behind shows it.
//
// Every pair uses its own card number and compares the answer with it. Two callers use some of the
// tokens concurrently, and exactly one of them may succeed. The output of a run never has a card
// number, a token or a key.
//
// With Live set the test makes that many tokens and leaves them, measures the server's
// memory, restarts it, and watches it while they all expire within a minute.
package tokens
