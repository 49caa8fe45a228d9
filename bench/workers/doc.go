// Package workers combines many load generators: a coordinator and its workers, which are processes
// on this machine or on others.
//
// # The protocol
//
// Both sides communicate over one stream of bytes. A message consists of its length in four
// big-endian bytes, and JSON of that length. The worker answers each [Order] of the coordinator
// with one [Report]. In between, the worker sends a sample per second.
//
// Over TCP the stream is TLS 1.3. The worker's certificate is generated at startup and proves
// nothing. Each side proves that it has the secret, by an HMAC over keying material of this
// connection (RFC 9266). A man in the middle would have two connections, so its proofs would not
// match either of them. No order is sent before both sides have proved that they have the secret.
//
// # Time
//
// All workers share the coordinator's timeline. On one machine the timeline is the machine's
// monotonic clock, so it is exact. Otherwise the coordinator measures the offset of a worker that
// joins, from the fastest of several exchanges. Half the duration of this exchange bounds the
// error. The report contains the largest bound.
package workers
