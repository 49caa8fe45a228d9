// Package pbwire is the runtime of the generated codecs for stored messages: the protobuf wire
// format, encoded and decoded without reflection.
//
// A message is written from its last byte to its first. The content of a nested message is
// therefore already written, and its length known, when the length is written in front of it. Sizes
// are computed only once, for the buffer. Unknown fields are kept and written again, so that an
// older binary loses no data from a newer one.
package pbwire
