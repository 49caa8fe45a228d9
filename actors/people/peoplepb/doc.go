// Package peoplepb holds the messages of the actor of people who lead.
package peoplepb

//go:generate go run atelier/actors/internal/protogen
