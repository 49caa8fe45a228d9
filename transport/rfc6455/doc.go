// Package rfc6455 implements the server side of the WebSocket protocol. It encodes frames and close
// frames, and its Decoder decodes a client's bytes to messages, however they were split in transit.
// It does no I/O itself, so an idle connection costs nothing here.
//
// A violation by a client is a ProtocolError with the close code of the answer. Extensions
// and binary messages are not supported.
package rfc6455
