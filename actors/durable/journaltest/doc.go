// Package journaltest has the conformance tests for packages that implement interfaces of package
// durable.
//
// Run tests a journal. RunShared also tests a store that several nodes use. Vocabulary tests that
// the commands and replies of an actor can be encoded and decoded, as they are sent between nodes.
package journaltest
