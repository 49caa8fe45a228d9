// Package compare decides whether two sets of runs differ. Machines are noisy, so a difference
// counts only when it shows in repeated runs that were made alternately. The exact rank test of
// Mann and Whitney returns the probability of ranks at least as far apart without a change. Two
// single runs can also be compared, but prove nothing, and the output notes that. Values that must
// be 0, such as lost messages, are an exception: one run is enough for them.
//
// A guard against slower servers needs fewer runs. [Work.Judge] takes the ratio of the two runs of
// each round, because these two share the state of the machine in that minute. It fails a work that
// is more than 7 % slower, if the 95 % interval of the ratio is below 1.
package compare
