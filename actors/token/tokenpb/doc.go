// Package tokenpb has the stored forms of tokens and checkout sessions.
package tokenpb

//go:generate go run atelier/actors/internal/protogen
