// Package compare decides whether two sets of runs differ. Machines are noisy, so a difference
// counts only when it shows in repeated runs that were made alternately. The exact rank test of
// Mann and Whitney returns the probability that chance alone makes the ranks differ at least as
// much. Two single runs can also be compared, but prove nothing, and the output notes that. Values
// that must be 0, such as lost messages, are an exception: one run is enough for them.
//
// A check that only looks for a slower server needs fewer runs. [Work.Judge] takes the ratio of the
// two runs of each round, because both share the state of the machine in that minute. A work fails
// if it is more than 7 % slower, and the 95 % interval of the ratio is below 1. It also fails if
// the new server had an error, for example a lost message.
package compare
