// Package pacing plans operations independently of their results: the open model. A closed loop,
// which sends the next request after the last response, slows down together with the server. It
// therefore hides exactly the delays that it should find.
//
// Times are durations since the start of the run. Only [Clock] reads a clock.
package pacing
