// Package lint contains the authoring conventions as rules, each with a permanent code, and checks
// schemas, profiles and service descriptions against them. Rules is the list; AUTHORING.md beside
// the parent package explains it.
//
// The examples of a rule about documents are in testdata/<code>.txtar. The files under good violate
// no rule. Each file under bad violates this rule, and is followed by its findings. "go test
// -update" writes the findings.
//
// Files returns findings in the order of files and positions, regardless of the order of the
// arguments.
package lint
