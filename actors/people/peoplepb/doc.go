// Package peoplepb has the messages of the actor of facilitators and assistants.
package peoplepb

//go:generate go run atelier/actors/internal/protogen
