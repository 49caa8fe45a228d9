// Package compare runs the load generator against each server in turn, with the same payload, rates
// and numbers of clients, and writes the results into a document.
//
// A round runs all servers, one after another. On a machine that others use too, only measurements
// within the same minutes can be compared. Figures are medians over the rounds; values "of the
// floor" are the median of the ratios within each round.
package compare
