// Package compare runs the load generator against each server in turn, with the
// same payload, rates and numbers, and writes what it found into a document.
//
// The runs of a round follow one another, server after server, and rounds follow
// rounds: on a machine that others use too, only what was measured within the
// same minutes can be compared. Figures are medians over the rounds; what is
// said "of the floor" is the median of the ratios within each round.
package compare
