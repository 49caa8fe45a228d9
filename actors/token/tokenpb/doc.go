// Package tokenpb contains the stored forms of tokens, checkout sessions and kept answers.
package tokenpb

//go:generate go run atelier/actors/internal/protogen
