// Package rfc6455 is the server's side of the WebSocket protocol. It makes frames and close
// frames to send, and its Decoder makes messages of a client's bytes, however they were split in
// transit. It reads and writes nothing itself, so an idle connection costs nothing here.
//
// A violation by a client is a ProtocolError with the close code of the answer. Extensions
// and binary messages are not supported.
package rfc6455
