// Package git speaks Git's smart HTTP protocol, version 0 (gitprotocol-http,
// gitprotocol-pack): it answers fetches, and takes what is pushed apart. Clients that ask
// for another version are answered with this one, as the protocol allows. It runs no
// program and knows no codelab: what there is to fetch is a Repository, and what is pushed
// goes to the caller that asked for it.
//
// # Fetching
//
// A client gets what its Repository has and nothing else. It may want the commits that
// the references stand for; of others, and of objects of any other kind, it is not told
// whether they exist, neither by wants nor by what it says it has. Packs hold whole
// objects, without deltas. They lie in files without names, are made once for all who ask
// for the same at a time, and are kept for the next (Packs).
//
// # Pushing
//
// A pack is unpacked into a file, object by object (Unpack). Its memory is bounded by the
// number of objects, and by the largest object two times; its time by the bytes that all
// objects have together. Deltas are resolved from their bases outward, so that those
// without one, a circle among them, are left over and refused. An object may refer to what
// the receiver has (a thin pack).
package git
