// Package naming says what things are called.
//
// Ids are UUIDv7, lower case, hyphenated.
//
// Names of people are told apart by those who see them, so what cannot be seen
// tells nothing: the package says what of a name is kept, and what makes two
// names the same.
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
