// Package rfc6455 implements the server side of the WebSocket protocol. It encodes frames and close
// frames, and its Decoder decodes a client's bytes to messages, regardless of how the bytes were
// split in transit. The package does no I/O itself, so that an idle connection costs nothing here.
//
// A violation by a client is a ProtocolError with the close code for the response. Extensions and
// binary messages are not supported.
package rfc6455
