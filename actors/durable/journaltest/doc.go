// Package journaltest has the conformance tests for implementations and users of
// durable.Journal.
//
// Run is the conformance suite for journals. Vocabulary is the suite for the encoding of commands
// for another process.
package journaltest
