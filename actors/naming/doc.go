// Package naming defines names: ids, the names of people, and closed lists.
//
// Ids are UUIDv7, lower case, hyphenated.
//
// People distinguish names by their appearance, so invisible characters must not matter:
// the package defines the stored form of a name, and the equality of names.
//
// A closed list is one the protocol or the handler knows all members of: policies of
// tokens, transports of a service. Each is declared once, where its subject is defined.
// Checks, error texts, help and generated documents follow from there. Handwritten
// documents are README, the OpenAPI documents, the published schemas and comments. In them
// the test of this package finds every enumeration that names some members of a closed list
// and not all. make generate completes those in documents.
package naming

//go:generate go test . -run "TestNoEnumerationIsStale|TestThePoliciesAreExplained" -update
