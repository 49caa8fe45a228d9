// Package messages is the realtime API. It defines the messages that clients send over a WebSocket
// or by POST, and the messages that they receive over a WebSocket or the event stream.
//
// Inbound messages that must be stored become commands of the codelab's actor; a message with a ref
// gets an ack once its command is committed. Committed events become frames (Frames). This package
// itself sends the messages that are not stored (signalling, presence, summaries). Gateway attaches
// connections to their rooms; package live transports the bytes.
//
// One table (table.go) has a row for every message, with its type and sender. The AsyncAPI document
// is generated from the table and the types. asyncapi.json is a copy (make generate), for tools
// that cannot request the document from the server.
package messages

//go:generate go test . -run TestTheDocumentFileIsUpToDate -update
