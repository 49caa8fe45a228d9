// Package usage sums the use of language models, per model. Codelabs count their people's use, and
// the settings count the use outside codelabs.
package usage

//go:generate go run atelier/actors/internal/protogen
