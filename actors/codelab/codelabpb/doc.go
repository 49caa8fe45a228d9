// Package codelabpb contains the protobuf messages of the codelab actor: its commands, its events and
// the records in its state. The .proto files are the source; the Go files beside them are generated
// by go generate.
package codelabpb

//go:generate go run atelier/actors/internal/protogen
