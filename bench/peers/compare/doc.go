// Package compare runs the load generator against each server in turn, with the same
// payload, rates and numbers, and writes the results into a document.
//
// In a round the servers run one after the other, and rounds follow rounds. On a machine
// that others use too, only measurements within the same minutes can be compared. Figures
// are medians over the rounds; values "of the floor" are the median of the ratios within
// each round.
package compare
