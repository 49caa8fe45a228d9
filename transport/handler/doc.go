// Package handler serves the tokenization handler under
// /handler and /sandbox/handler: the operations on tokens, access tokens for
// OAuth clients, published encryption keys, and the document that describes
// all of it. Production and sandbox are two bases with nothing in common but
// the code.
//
// A request is admitted in this order: who is calling (401), how fast (429),
// with which scope (403), the shape of the request (400, 413, 415), for whom
// (403), and only then the token is looked at. Rules of tokens are in
// actors/token, of participants in actors/participant; this package maps their
// answers to the codes of the interface.
//
// Nothing of a request's content is ever logged, and what it brought or took of
// a credential is wiped when it has been answered. RULES.md has the rules that the
// document does not say.
package handler

//go:generate go test . -run TestTheTableOfRefusalsIsTrue -update
