// Package negotiate determines the agreement of a platform and a business: the protocol version,
// and for each registry the names and versions that both have (transport/commerce/RULES.md,
// "Versioning").
//
// Profiles is a pure function of two profiles; the order of names and entries in them does not
// matter. Agree adds the parts that need documents: reading a profile from JSON, and the
// requirements that only a schema states.
package negotiate
