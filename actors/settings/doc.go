// Package settings is the actor for the settings of the whole installation: the admins' API tokens,
// and the AI key with its usage outside codelabs.
package settings

//go:generate go run atelier/actors/internal/protogen
