// Package objects defines a store of objects. It is a folder, which several nodes can have mounted,
// or a bucket of an S3-compatible server. Package trees stores code in it; package contents stores
// the files that nodes share.
//
// # Objects
//
// An object has a key, is put as a whole and never changed in place: an interrupted put leaves
// nothing that Get or List shows. Where the content matters, a key is used once, or every put of it
// has the same content. Nothing here needs a lock between nodes, or a conditional write, which not
// every S3 server supports.
//
// # What is removed, and why nothing is lost
//
// Other nodes put objects unknown to this one, so only age protects objects that are not recorded
// yet. To refer to an object, put it and then record the reference. To remove one, list it, with
// its age by the clock of the store. Then check whether the records refer to it, look for backups,
// and remove it.
//
// A removed object was old when it was listed, and unreferenced when checked afterwards. So
// a loss needs a later reference to an object that was put before the grace period. But
// each reference comes from its own put, which creates an object under a unique key that no
// older listing has, and is recorded within minutes. It does not matter how long a removal
// was paused between two of these steps, or how many run concurrently. The remaining risk
// is a put whose record takes longer than the grace period, which is at least an hour.
//
// A sweep does not know why an object is unreferenced: the record may have been lost. So it first
// quarantines the object, by an object beside it (Aside), and removes it only if it is still
// unreferenced a grace period later.
//
// # Backups
//
// Hold puts an object that all nodes see: a removal looks for one as its last step. The backup
// reads the records after it. So either the hold is seen, or the removed object was unreferenced
// before the records were read.
package objects
