// Package handler serves the tokenization handler under /handler and /sandbox/handler. It serves
// the operations on tokens, access tokens for OAuth clients, published encryption keys, and the
// document that describes all of these. Production and sandbox are two bases with separate vaults
// of tokens. A participant belongs to one of them.
//
// A request is checked in this order. Only the OAuth token endpoint checks the shape first.
//
//	the caller                                  401
//	the rate                                    429
//	the scope                                   403
//	the shape of the request                    400, 413, 415
//	the credential, if it contains one          422
//	the participant for which the caller acts   403
//	the token                                   403, 404, 409, 410
//
// Token rules are in actors/token, and participant rules are in actors/participant. This package
// maps their results to the API's codes.
//
// Request contents are never logged. Credentials in requests and responses are wiped once the
// response is sent. RULES.md contains the rules that are not in the document.
package handler

//go:generate go test . -run TestTheTableOfRefusalsIsUpToDate|TestTheDocumentFileIsUpToDate -update
