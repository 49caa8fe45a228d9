// Command suites runs the suites of a gate and prints the result of each: passed, failed, skipped,
// seconds. A suite is a target of the Makefile. Suites separated by commas form a group, in which
// at most two suites run in parallel. Groups run one after the other, and a failed suite does not
// stop the others:
//
//	suites go-test,app-test,race simulate
//
// Temporary files are in memory (/dev/shm) if there is enough space and programs can run there,
// because most tests would otherwise wait for the disk. Only the package powercut and the stores'
// benchmarks test the disk.
//
// -repeat repeats everything, and -spinners runs busy loops at the same time. A test that fails
// only under these flags depends on timing, and must be corrected.
//
// "suites -concurrent PACKAGES" lists the given packages in which goroutines can interact. It looks
// in the source for code that starts goroutines, or has channels, locks or atomics.
package main
