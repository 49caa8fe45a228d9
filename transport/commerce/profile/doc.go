// Package profile reads profiles, makes the one of this business, and finds
// the address of a platform's profile in the header UCP-Agent.
//
// Parse takes what negotiation needs and no more; lint and validate say
// whether a profile keeps all conventions.
package profile
