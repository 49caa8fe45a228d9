// Package git implements Git's smart HTTP protocol, version 0 (gitprotocol-http, gitprotocol-pack):
// it answers fetches, and unpacks pushes. Requests for another version are answered with this one,
// as the protocol permits. It runs no program and does not know codelabs: a Repository is what can
// be fetched, and the caller handles what is pushed.
//
// # Fetching
//
// A client gets only objects of its Repository. It can request the commits of the references. It
// cannot find out whether other commits or objects exist, neither by wants nor by haves. Packs
// contain whole objects, without deltas. They are built once for all concurrent equal requests, in
// unnamed files, and cached (Packs).
//
// # Pushing
//
// A pack is unpacked into a file, object by object (Unpack). Its memory is bounded by the number
// of objects and by twice the largest object, its time by the total bytes of all objects. Deltas
// are resolved from their bases outward. Deltas without a base, including cycles, remain and are
// refused. An object can refer to objects of the receiver (a thin pack).
package git
