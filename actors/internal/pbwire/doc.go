// Package pbwire is the runtime of the generated codecs of stored messages: the protobuf
// wire format, written and read without reflection.
//
// A message is written from its last byte to its first. So the length of a nested message
// is known when it is written before the message. Sizes are summed once, for the buffer.
// Unknown fields are kept and written again: an older binary loses no data of a newer one.
package pbwire
