// Package messages is the realtime interface: what a client may say on its
// WebSocket and what it hears there, on the event stream, or by posting.
//
// Inbound messages become commands of the codelab's actor; the sender gets an
// ack once the command is committed. Committed events become frames (Frames);
// what is not stored (signalling, presence, summaries) goes out from here.
// Gateway brings connections into their rooms; package live carries the bytes.
//
// Every message has a type, and a row with its sender in one table (table.go). The AsyncAPI
// document is made of both. asyncapi.json is generated from it (make generate), for tools that
// cannot ask the server.
package messages

//go:generate go test . -run TestTheFileOfTheDocumentIsFresh -update
