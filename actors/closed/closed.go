// Package closed puts closed lists into words.
//
// A closed list is one the protocol or the handler knows all members of:
// policies of tokens, transports of a service. Each is declared once, where the
// thing it lists is defined; checks, error texts, help and the documents that
// are made follow from there. In documents that are written by hand (README,
// the OpenAPI documents, the published schemas, comments) the test of this
// package finds every enumeration that names some members of a closed list and
// not all, and make generate completes those in documents.
package closed

//go:generate go test . -run TestNoEnumerationIsStale -update

import "strings"

// Or joins members as a choice: "a, b or c".
func Or(members ...string) string { return join(members, " or ") }

// And joins members as what goes together: "a, b and c".
func And(members ...string) string { return join(members, " and ") }

func join(members []string, last string) string {
	if len(members) < 2 {
		return strings.Join(members, "")
	}
	end := len(members) - 1
	return strings.Join(members[:end], ", ") + last + members[end]
}
