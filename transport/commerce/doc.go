// Package commerce is the map of the schema half of the commerce protocol;
// the work is in the folders below. AUTHORING.md says how to write schemas.
//
//	schemas    the schemas we publish, embedded, by version
//	document   hostile JSON into a bounded tree that knows its lines
//	brief      how much of a stranger's text an error repeats
//	pattern    regular expressions of ECMA-262, in bounded time
//	naming     names, versions and ranges, and who owns a name
//	library    schema documents by file and $id; where a reference leads
//	lint       the conventions as rules with stable codes
//	compose    a base and its extensions as one plain schema; visibility
//	describe   the schemas a payload says it follows
//	validate   payloads and profiles against schemas, in readable words
//	profile    profiles and their registries; the profile of this business
//	negotiate  what two profiles agree on
//	fetch      schemas and profiles from strangers' servers
//
// Beside them, endpoint serves all this over HTTP. Nothing else here knows the
// server, the actors or the store: cmd/commerce and other programs import the
// packages as a library. Every input is taken as hostile; the limits stand as
// constants where they are enforced.
package commerce
