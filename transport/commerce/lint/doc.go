// Package lint holds the authoring conventions as rules, each with a code that
// never changes, and checks schemas, profiles and service descriptions against
// them. Rules is the list; AUTHORING.md beside the parent package explains it.
//
// A rule about documents has its examples in testdata/<code>.txtar. The files under good keep
// every rule. Each file under bad breaks this rule and is followed by its findings, which go test
// -update writes.
//
// Files gives findings in the order of files and places, whatever the order of
// the arguments.
package lint
