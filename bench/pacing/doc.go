// Package pacing plans operations in time, before they happen and whatever
// becomes of them: the open model. A closed loop, which sends the next request
// when the last is answered, slows down together with the server and so hides
// exactly the delays it is meant to find.
//
// Times are durations since the start of the run. Only [Clock] reads a clock.
package pacing
