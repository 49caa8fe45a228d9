// Package compare says whether two sets of runs differ. Machines are noisy, so a
// difference counts only when it shows in repeated runs that were made alternately:
// the exact rank test of Mann and Whitney says how likely ranks as far apart
// would be if nothing had changed. Two single runs are compared, too, but prove
// nothing, and the answer says so; except for values that must be 0, such as lost messages:
// one run is enough for them.
//
// A guard against slower servers asks more of few runs: [Work.Judge] takes the ratio of
// the two runs of each round, which share what the machine did in that minute, and fails
// what is more than 7 % slower with the 95 % interval of the ratio below 1.
package compare
