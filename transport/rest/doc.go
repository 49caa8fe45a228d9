// Package rest is the REST interface of the workshop service: one file per
// resource of the specification. A handler decodes and copies what it needs,
// calls an actor or reads a view, and encodes the answer; it holds no state
// and no rule of the domain.
//
// Every operation is in one table (routes.go) with its access, its limits and its handler.
// The pipeline in request.go does the rest in this order: request id, limits, caller, CSRF,
// role, codelab, body.
//
// RULES.md has the rules of the whole interface that are not in its documents. The OpenAPI document
// is generated from the table and from the pieces in openapi (describe.go). openapi.json is the
// result, for reading without a server.
package rest

//go:generate go test . -run "TestTheTablesOfTheRulesAreTrue|TestTheFileOfTheDocumentIsFresh" -update
