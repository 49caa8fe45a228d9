// Package naming defines ids, people's names, and enums.
//
// Ids are UUIDv7, lower case, hyphenated.
//
// People distinguish names by their appearance, so invisible characters must not matter. The
// package defines the stored form of a name, and which names count as equal.
//
// An enum has a fixed list of members, such as policies of tokens or transports of a service. Each
// enum is declared once, where its subject is defined. Checks, error texts, help and generated
// documents use that list. Handwritten documents are README, the OpenAPI documents, the published
// schemas and comments. This package's test finds every enumeration in these documents that
// contains some members of an enum but not all. make generate completes such enumerations.
package naming

//go:generate go test . -run "TestNoEnumerationIsStale|TestThePoliciesAreExplained" -update
