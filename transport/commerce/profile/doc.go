// Package profile reads what a side declares: its profile, the address of one in
// the header UCP-Agent, and the capabilities that a payload says it follows
// (the sections "Registry shape" and "Entity entry fields" of the
// specification).
//
// Parse takes what negotiation needs and no more: a registry that is left out
// is empty, and an error is a *MalformedError with the place. Checker holds a
// profile against the published schema, lint against the conventions.
package profile
