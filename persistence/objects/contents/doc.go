// Package contents implements files.Blobs for several nodes: contents in a
// store of objects, and a copy of what is used on the node's own disk.
//
// # Objects
//
//	contents/ab/<sum>-<random>   a content; each put makes one of its own
//	discarded/contents/…         an empty mark: it may go as soon as it is old
//	                             enough, for nothing refers to it any more
//	aside/contents/…             see objects.Aside
//
// # Promises
//
// Put takes the stream into the node's own disk, where its sum becomes known,
// and puts it with one request. When it returns the content lasts. Nodes that
// put one content at a time make two objects of it, which a sweep makes one
// again: so no removal, however late, can hit what was put after it was decided
// on. Within half an hour a node does not put again what it has put itself.
//
// Open fetches the content and holds it against its sum before the first byte
// is given; what was fetched is kept for an hour and up to a number of bytes,
// and read from there for every range and every other reader. A damaged object
// is not served, and another of the same content is looked for.
//
// Discard removes at once what was put more than an hour ago, and leaves a mark
// on what is younger: another node may be about to refer to it. Collect follows
// package objects.
//
// # Back-pressure
//
// While the node's disk, or the store, is nearly full, Put gives
// durable.ErrReadOnly; a store that cannot be reached durable.ErrUnavailable.
package contents
