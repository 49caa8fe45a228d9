// Package negotiate finds what a platform and a business agree on: the
// protocol version, and of each registry the names and versions both have
// (transport/commerce/RULES.md, "Versioning").
//
// Profiles is a plain function of two profiles; the order of names and of
// entries in them changes nothing. Agree adds what needs documents: reading a
// profile from JSON and the requirements that only a schema states.
package negotiate
