// Package commerce is the map of the schema half of the commerce protocol;
// the work is in the folders below. AUTHORING.md says how to write schemas,
// RULES.md what the specification leaves open and is decided here.
//
//	schema     reading, naming, resolving, composing and validating schemas;
//	           published/ has those that we publish, by version
//	lint       the conventions as rules with stable codes
//	profile    what a side declares: profiles, and the schemas a payload follows
//	negotiate  what two profiles agree on
//	publish    what a server serves: schemas, its business profile, negotiation
//	remote     schemas and profiles from strangers' servers
//
// Each imports only those above it, and lint and remote nothing but schema.
// Only publish knows the HTTP server, and none the actors' state or the store:
// cmd/commerce and other programs import the packages as a library. Every
// input is taken as hostile; the limits stand as constants where they are
// enforced.
package commerce
