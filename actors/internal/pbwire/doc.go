// Package pbwire is what the generated codecs of stored messages call: the
// protobuf wire format, written and read without reflection.
//
// A message is written from its last byte to its first, so the length of what
// is inside another is known when it is put before it, and sizes are summed
// once, for the buffer. What a message has that its type does not know is kept
// and written again: an older binary loses nothing of a newer one's.
package pbwire
