// Package contents implements files.Blobs: the one store of what people upload, each
// content under its SHA-256. Contents lie in a folder, or, where several nodes share
// them, in a store of objects with copies of what is used in a folder of the node's own.
//
// # In both
//
// Put streams: it needs one buffer, whatever the size. When it returns, the content is
// on disk. Open holds a content against its sum before the first byte is given; one that
// is not what was put is not served, and does not stand in for the same content when it
// is sent again. The order for a caller that refers to a content is: Put, record the
// reference, release the lease. A content that was set aside is still found for a
// grace period. A backup of the one place restores into the other (backup.go).
//
// While the disk, or the store of objects, is nearly full, Put and Spool give
// durable.ErrReadOnly, also in the middle of a stream; a store of objects that cannot be
// reached gives durable.ErrUnavailable. There is no queue: each call uses its caller's
// goroutine.
//
// # A folder (folder.go, put.go, verify.go, collect.go, aside.go)
//
//	objects/ab/abcd…   one file for each content, never changed
//	tmp/               what is being written; cleared by Open
//	aside/abcd…        what a collection found unused
//
// A content is written to tmp, synced, renamed, and its folder is synced. A crash leaves
// at most files in tmp and contents that nothing refers to.
//
// A content is removed only when nobody has a lease on it, nothing that is recorded
// refers to it, and no backup holds the store. These are looked at under the lock under
// which Put gives leases, so a Put of the same content either finds it and keeps it, or
// makes it anew. Collect spares contents younger than the grace period on top of that: a
// command whose outcome is unknown to its sender may still be recorded. Putting a content
// again makes it young again.
//
// # A store of objects (shared.go, sharedcollect.go, cache.go)
//
//	contents/ab/<sum>-<random>   a content; each put makes one of its own
//	discarded/contents/…         an empty mark: it may go as soon as it is old
//	                             enough, for nothing refers to it any more
//	aside/contents/…             see objects.Aside
//
// Put takes the stream into the node's folder, where its sum becomes known, and puts it
// with one request. Nodes that put one content at a time make two objects of it, which a
// sweep makes one again: so no removal, however late, can hit what was put after it was
// decided on. Within half an hour a node does not put again what it has put itself.
//
// What was fetched is kept for an hour and up to a number of bytes, and read from there
// for every range and every other reader. Where an object is damaged, another of the
// same content is looked for.
//
// Discard removes at once what was put more than an hour ago, and leaves a mark on what
// is younger: another node may be about to refer to it. Collect follows package objects.
package contents
