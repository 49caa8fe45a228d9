// Package codelabpb contains the protobuf messages of the codelab actor: its events, the records in
// its state, and its snapshot. The .proto files are the source, from which go generate creates the
// .pb.go files.
package codelabpb

//go:generate go run atelier/actors/internal/protogen
