// Package workers combines many load generators: a coordinator and its workers, which are processes
// on this machine or on others.
//
// # The protocol
//
// Both sides communicate over one stream of bytes. A message has four bytes with its length, big
// endian, and JSON of that length. The coordinator sends an [Order] and the worker answers each
// with one [Report]; in between it sends a sample per second.
//
// Over TCP the stream is TLS 1.3. The worker's certificate is generated at startup and proves
// nothing. Each side proves its knowledge of the secret by an HMAC over keying material of this
// connection (RFC 9266). A man in the middle would have two connections, and can prove nothing to
// either side. No command is sent before both sides have proved their knowledge.
//
// # Time
//
// All workers share the coordinator's timeline. On one machine that is its monotonic clock, so it
// is exact. Otherwise the worker's offset is measured when it joins, by the fastest of several
// exchanges. Half of the time of that exchange bounds the error. The report has the largest bound.
package workers
