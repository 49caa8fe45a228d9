// Package loginpb contains the stored messages of login sessions.
package loginpb

//go:generate go run atelier/actors/internal/protogen
