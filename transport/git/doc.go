// Package git implements Git's smart HTTP protocol, version 0 (gitprotocol-http, gitprotocol-pack):
// it serves fetches and unpacks pushes. Requests for another version get version 0, as the protocol
// permits. The package runs no program and does not depend on codelabs. A Repository is the content
// that can be fetched. The caller handles pushed content.
//
// # Fetching
//
// A client gets only objects of its Repository. It can request only commits in the history of the
// references. It cannot find out whether other commits or objects exist, neither by wants nor by
// haves. Packs contain whole objects, without deltas. Packs builds each pack once for all
// concurrent equal requests, in an unnamed file, and caches it.
//
// # Pushing
//
// A pack is unpacked into a file, object by object (Unpack). The memory for unpacking is bounded by
// the number of objects, and by one base with one delta and the object that results. The time is
// bounded by the total bytes of all objects. Deltas are resolved from their bases outward. Deltas
// that remain, because their base is missing or they form a cycle, are refused. The base of a delta
// can be an object that only the receiver has (a thin pack).
package git
