// Package blobs implements files.Blobs: contents in one folder, each under
// its SHA-256.
//
// # Layout
//
//	objects/ab/abcd…   one file for each content, never changed
//	tmp/               what is being written; cleared by Open
//
// # Promises
//
// Put streams: it needs one buffer, whatever the size. The content is written
// to tmp, synced, renamed, and its folder is synced before Put returns, so a
// content that was acknowledged is on disk. A crash leaves at most files in tmp
// and objects that nothing refers to.
//
// An object is removed only when nobody has a lease on it, nothing that is
// recorded refers to it, and no backup holds the store. These are looked at
// under the lock under which Put gives leases, so a Put of the same content
// either finds the object and keeps it, or makes it anew. The order for whoever
// refers to an object is: Put, record the reference, release the lease.
//
// Collect spares objects younger than the grace period on top of that: a
// command whose outcome is unknown to its sender may still be recorded. Putting
// a content again makes it young again.
//
// # Back-pressure
//
// While the disk is nearly full Put and Spool give durable.ErrReadOnly, also in
// the middle of a stream. There is no queue: each call uses its caller's
// goroutine.
package blobs
