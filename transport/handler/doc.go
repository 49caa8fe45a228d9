// Package handler serves the tokenization handler under /handler and /sandbox/handler. It has the
// operations on tokens, access tokens for OAuth clients, published encryption keys, and the
// document that describes all of these. Production and sandbox are two bases that share only the
// code.
//
// A request is checked in this order: the caller (401), the rate (429), the scope (403), the shape
// of the request (400, 413, 415), the participant it is for (403), and only then the token. Rules
// of tokens are in actors/token, of participants in actors/participant; this package maps their
// results to the codes of the interface.
//
// Contents of requests are never logged. Credentials in requests and answers are wiped once the
// request is answered. RULES.md has the rules that are not in the document.
package handler

//go:generate go test . -run TestTheTableOfRefusalsIsTrue|TestTheFileOfTheDocumentIsFresh -update
