// Package negotiate determines the agreement of a platform and a business: the protocol version,
// and for each registry the names and versions that both have (transport/commerce/RULES.md,
// "Versioning").
//
// Profiles is a pure function of two profiles, in which the order of names and entries does not
// matter. Agree also parses the platform's profile, fetches profiles for other versions, and
// includes the requirements that only a schema states.
package negotiate
