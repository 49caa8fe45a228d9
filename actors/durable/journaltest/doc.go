// Package journaltest has the conformance tests for implementations and users of
// durable.Journal.
//
// Run is the conformance suite: every implementation of the journal passes it.
// Vocabulary is the suite of the encoding that carries commands to another process.
package journaltest
