// Package journaltest helps to test what stands on both sides of
// durable.Journal.
//
// Run is the conformance suite: every implementation of the journal passes it.
// Vocabulary is the suite of what carries commands to another process.
package journaltest
