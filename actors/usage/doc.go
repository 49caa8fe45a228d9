// Package usage sums the use of language models, per model. Codelabs count the use by their people,
// the settings the use outside codelabs.
package usage

//go:generate go run atelier/actors/internal/protogen
