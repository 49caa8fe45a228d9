// Package codelab is the actor that owns one codelab: its text, attendees, progress, help queue,
// comments, feedback, quizzes, polls, questions and chat.
//
// State is the pure core: Decide returns the events of a command, Apply applies an event, and
// Capture returns the immutable View for readers. State has no goroutine, clock or I/O; package
// durable is the runtime around it. Only anonymous polls use random numbers, and secrets from
// outside (Rules). One file contains the rules for one concept: help.go for the queue, threads.go
// for the comments, and so on.
//
// Commands are Go values; each type is in the file with its rules, and command.go lists them.
// Events and records are the protobuf messages of codelabpb, because they are stored. A record in
// the state is never modified, but replaced by a changed copy, so that a View is cheap.
package codelab
