// Package profile reads the declarations of a side: its profile, the address of a profile in the
// header UCP-Agent, and the capabilities that a payload follows. The specification's sections are
// "Registry shape" and "Entity entry fields".
//
// Parse reads only the data needed for negotiation. It treats a missing registry as empty, and its
// error is a *MalformedError with the position. Checker validates a profile with the published
// schema, and package lint checks the conventions.
package profile
