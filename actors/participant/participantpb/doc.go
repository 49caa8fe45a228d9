// Package participantpb holds the messages of the participants' actor.
package participantpb

//go:generate go run atelier/actors/internal/protogen
