// Package usage sums what language models were asked, a sum for each model.
// Codelabs count what their people asked, the settings what was asked about no
// codelab.
package usage

//go:generate go run atelier/actors/internal/protogen
