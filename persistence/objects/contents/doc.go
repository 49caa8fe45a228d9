// Package contents implements files.Blobs: the store of uploaded files, each under its SHA-256. The
// objects are in a folder, or, if several nodes share them, in a store of objects, with cached
// copies in a folder of each node.
//
// # In both
//
// Put streams: it needs one buffer for any size. When it returns, the object is on disk. Open
// verifies an object against its sum before it returns the first byte. A damaged object is not
// served, and does not replace the same content when it is sent again. The order for a caller that
// refers to an object is: Put, record the reference, release the lease. An object in quarantine is
// still found for a grace period. A backup of either kind restores into the other (backup.go).
//
// While the disk, or the store of objects, is nearly full, Put and Spool return
// durable.ErrReadOnly, also in the middle of a stream. If a store of objects cannot be reached,
// they return durable.ErrUnavailable. There is no queue: each call runs on its caller's goroutine.
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
// A content is removed only if nobody has a lease on it, no record refers to it, and no
// backup holds the store. These are checked under the lock under which Put gives leases, so
// a Put of the same content either finds and keeps it, or creates it again. Collect also
// spares contents younger than the grace period, because a command with an unknown outcome
// can still be recorded. Putting a content again resets its age.
//
// # A store of objects (shared.go, sharedcollect.go, cache.go)
//
//	contents/ab/<sum>-<random>   a content; each put makes one of its own
//	discarded/contents/…         an empty mark: it may go as soon as it is old
//	                             enough, for nothing refers to it any more
//	aside/contents/…             see objects.Aside
//
// Put reads the stream into the node's folder, to compute its sum, and puts it with one request. If
// several nodes concurrently put the same content, they create several objects, which a sweep
// merges. So no removal, however late, can affect an object that was put after the decision. Within
// half an hour a node does not repeat its own put.
//
// Fetched objects are cached for an hour, up to a number of bytes, for every range and every other
// reader. If an object is damaged, another one with the same content is searched.
//
// Discard immediately removes objects that were put more than an hour ago. It only marks younger
// objects, because another node may be about to refer to them. Collect follows package objects.
package contents
