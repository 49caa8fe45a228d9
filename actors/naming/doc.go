// Package naming says what things are called.
//
// Ids are UUIDv7, lower case, hyphenated.
//
// People distinguish names by their appearance, so invisible characters must not matter:
// the package defines the stored form of a name, and the equality of names.
//
// A closed list is one the protocol or the handler knows all members of:
// policies of tokens, transports of a service. Each is declared once, where the
// thing it lists is defined; checks, error texts, help and the documents that
// are made follow from there. In documents that are written by hand (README,
// the OpenAPI documents, the published schemas, comments) the test of this
// package finds every enumeration that names some members of a closed list and
// not all, and make generate completes those in documents.
package naming

//go:generate go test . -run "TestNoEnumerationIsStale|TestThePoliciesAreExplained" -update
