// Package rfc6455 is the WebSocket protocol as a server needs it: frames and
// close frames to send, and a Decoder that makes messages of a client's bytes,
// however they were cut on their way. It reads and writes nothing itself, so an
// idle connection costs nothing here.
//
// A violation by a client is a ProtocolError with the close code of the answer. Extensions
// and binary messages are not supported.
package rfc6455
