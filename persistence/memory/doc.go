// Package memory is a store without a disk, for trials of the server and for tests of users of
// durable.Journal. It keeps every promise of the contract, except that committed data does not
// survive the process.
//
// Tests can make it fail, hold or lose commits (faults.go).
package memory
