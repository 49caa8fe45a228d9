// Package rest is the workshop service's REST API, with one file per resource of the specification.
// A handler decodes and copies its input, calls an actor or reads a view, and encodes the response.
// Handlers contain no state and no domain rules.
//
// Every operation is in one table (routes.go) with its access, its limits and its handler. Package
// httpapi and request.go do the rest in this order: request id, caller, limits, CSRF, scope, role,
// codelab, body.
//
// RULES.md contains the rules of the whole API that are not in its documents. The OpenAPI document
// is generated from the table and from the pieces in openapi (describe.go). openapi.json is the
// result, for reading without a server.
package rest

//go:generate go test . -run "TestTheTablesOfTheRulesAreUpToDate|TestTheDocumentFileIsUpToDate" -update
