// Package journaltest helps to test what stands on both sides of
// durable.Journal.
//
// Run is the conformance suite: every implementation of the journal passes it.
// Memory is an implementation without a disk, for the tests of actors: it
// keeps every promise of the contract, and can fail, hold or lose commits when
// a test asks for it.
package journaltest
