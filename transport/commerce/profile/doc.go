// Package profile reads the declarations of a side: its profile, the address of a profile in the
// header UCP-Agent, and the capabilities that a payload follows. The specification's sections are
// "Registry shape" and "Entity entry fields".
//
// Parse takes what negotiation needs and no more: a registry that is left out
// is empty, and an error is a *MalformedError with the place. Checker holds a
// profile against the published schema, lint against the conventions.
package profile
