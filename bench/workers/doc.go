// Package workers is many load generators that work as one: a coordinator and its
// workers, which are processes of this machine or of others.
//
// # The protocol
//
// Both sides speak over one stream of bytes: messages of four bytes of length,
// big endian, and as much JSON. The coordinator sends an [Order] and the worker
// answers each with one [Report]; samples come in between, one a second.
//
// Over TCP the stream is TLS 1.3. The worker's certificate is made at its start and proves
// nothing. Each side proves that it knows the secret by an HMAC over keying material of
// this very connection (RFC 9266). Somebody in between, who would have two connections, can
// prove nothing to either side. No command is sent before both have proved it.
//
// # Time
//
// Everybody shares the coordinator's timeline. On one machine that is its monotonic clock
// and exact. Otherwise the worker's offset is measured when it joins, by the fastest of
// some exchanges. Half of the time of that exchange bounds the error. The report has the
// largest.
package workers
