// Package naming defines ids, people's names, and enums.
//
// Ids are UUIDv7, lower case, hyphenated.
//
// People distinguish names by their appearance, so invisible characters must not matter: the
// package defines the stored form of a name, and when names are equal.
//
// An enum has a fixed list of members, such as policies of tokens or transports of a service. Each
// enum is declared once, where its subject is defined. Checks, error texts, help and generated
// documents use that list. Handwritten documents are README, the OpenAPI documents, the published
// schemas and comments. In them the test of this package finds every enumeration that has some
// members of an enum but not all. make generate completes those in documents.
package naming

//go:generate go test . -run "TestNoEnumerationIsStale|TestThePoliciesAreExplained" -update
