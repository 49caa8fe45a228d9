// Command suites runs the suites of a gate and prints what came of each: passed, failed,
// skipped, seconds. A suite is a target of the Makefile; what stands between commas runs
// side by side, the groups one after the other, and a suite that fails stops none of the
// others:
//
//	suites go-test,app-test race,app-check
//
// Temporary files lie in memory (/dev/shm) where there is room and programs may be
// started: most tests wait for a disk that none of them is about. The package powercut
// and the stores' own benchmarks are about it.
//
// With -repeat all is done again, with -spinners beside as many busy loops: a test that
// fails then judges by time, and is mended.
//
// "suites -concurrent PACKAGES" lists, of some packages, those in which goroutines can
// meet. It reads the source: what starts goroutines, has channels, locks or atomics.
package main
