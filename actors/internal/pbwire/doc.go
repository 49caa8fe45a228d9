// Package pbwire is what the generated codecs of stored messages call: the
// protobuf wire format, written and read without reflection.
//
// A message is written from its last byte to its first, so the length of a nested message
// is known when it is written before it, and sizes are summed once, for the buffer. Unknown
// fields are kept and written again: an older binary loses no data of a newer one.
package pbwire
