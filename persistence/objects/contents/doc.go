// Package contents implements files.Blobs: the store of uploaded files, each under its SHA-256. A
// single node stores the objects in a folder. Several nodes share an object store, and each node
// caches copies in its own folder.
//
// # Both kinds of store
//
// Put streams the data, so it needs only one buffer for data of any size. When Put returns, the
// object is on disk. Open verifies an object against its sum before it returns the first byte. A
// damaged object is not served, and is replaced when the same content is sent again. A caller that
// refers to an object calls Put, records the reference, and then releases the lease. An object in
// quarantine can still be read during the grace period. A backup of one kind of store can be
// restored into the other (backup.go).
//
// While the disk or the object store is nearly full, Put and Spool return durable.ErrReadOnly, even
// in the middle of a stream. If the object store cannot be reached, they return
// durable.ErrUnavailable. There is no queue: each call runs on its caller's goroutine.
//
// # A folder (folder.go, put.go, verify.go, collect.go, aside.go)
//
//	objects/ab/abcd…   one file per content, never changed
//	tmp/               incomplete files; cleared by Open
//	aside/abcd…        objects that a collection found unused
//
// Content is written to a file in tmp. The file is synced and renamed, and then its folder is
// synced. A crash leaves at most files in tmp and unreferenced objects.
//
// An object is removed only if it has no lease, no record refers to it, and no backup holds the
// store. Put creates leases under the same lock under which a removal checks these conditions. A
// Put of the same content therefore either finds and keeps the object, or creates it again. Collect
// also spares objects younger than the grace period, because a command with an unknown outcome can
// still be recorded. Putting the same content again resets the object's age.
//
// # An object store (shared.go, sharedcollect.go, cache.go)
//
//	contents/ab/<sum>-<random>   an object; each put creates its own
//	discarded/contents/…         an empty mark: the object can be removed once
//	                             old enough, since nothing refers to it any more
//	aside/contents/…             see objects.Aside
//
// Put reads the stream into the node's folder to compute its sum, and puts the object with one
// request. If several nodes concurrently put the same content, they create several objects, and a
// sweep merges them. Because each put creates its own object, a late removal cannot affect an
// object that was put after the decision to remove. If a node puts the same content again within
// half an hour, it does not repeat the request.
//
// Fetched objects are cached for an hour, up to a number of bytes. The cached copy serves every
// range and every other reader. If an object is damaged, another object with the same content is
// used.
//
// Discard immediately removes objects that were put more than an hour ago. It only marks younger
// objects, because another node can be about to refer to them. While a backup holds the store,
// Discard marks all objects. Collect removes objects as described in package objects.
package contents
