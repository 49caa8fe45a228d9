// Package workers is many load generators that work as one: a coordinator and its
// workers, which are processes of this machine or of others.
//
// # The protocol
//
// Both sides speak over one stream of bytes: messages of four bytes of length,
// big endian, and as much JSON. The coordinator sends an [Order] and the worker
// answers each with one [Report]; samples come in between, one a second.
//
// Over TCP the stream is TLS 1.3. The worker's certificate is made at its start
// and means nothing by itself: each side proves that it knows the secret by an
// HMAC over keying material of this very connection (RFC 9266), so somebody in
// between, who would have two connections, can prove nothing to either. Nothing
// is ordered before both have.
//
// # Time
//
// Everybody shares the coordinator's timeline. On one machine that is its
// monotonic clock and exact. Otherwise the worker's offset is measured when it
// joins, by the quickest of some exchanges, and half of the time that this one
// took bounds the error; the report tells the largest.
package workers
