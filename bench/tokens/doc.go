// Package tokens is the load test of the tokenization handler. It uses an open load model: each
// pair of a tokenize and a detokenize is planned beforehand. The latency counts from the planned
// time, so a server that falls behind is visible in the latency.
//
// Every pair uses its own card number and compares the response with it. For some tokens there are
// two concurrent callers, and exactly one of them must succeed. The output of a run never contains
// a card number, a token or a key.
//
// With Live set, the test creates that many tokens and leaves them unused. It measures the server's
// memory, restarts the server, and observes it while all of these tokens expire within a minute.
package tokens
