// Package memory is a store without a disk: for trying the server out, and for
// the tests of what stands on durable.Journal. It keeps every promise of the
// contract but the one that what was committed outlives the process.
//
// A test can let it fail, hold or lose commits (faults.go).
package memory
