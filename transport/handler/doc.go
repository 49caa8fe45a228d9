// Package handler serves the tokenization handler under /handler and /sandbox/handler. It has the
// operations on tokens, access tokens for OAuth clients, published encryption keys, and the
// document that describes all of these. Production and sandbox are two bases that share only the
// code.
//
// A request is admitted in this order: who is calling (401), how fast (429),
// with which scope (403), the shape of the request (400, 413, 415), for whom
// (403), and only then the token is looked at. Rules of tokens are in
// actors/token, of participants in actors/participant; this package maps their
// answers to the codes of the interface.
//
// No content of a request is ever logged, and credentials in a request or answer are wiped when
// it has been answered. RULES.md has the rules that are not in the document.
package handler

//go:generate go test . -run TestTheTableOfRefusalsIsTrue|TestTheFileOfTheDocumentIsFresh -update
