// Package settings is the actor of the settings of the whole installation: the API tokens
// of admins, and the AI key with its usage outside codelabs.
package settings

//go:generate go run atelier/actors/internal/protogen
