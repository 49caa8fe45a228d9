// Package objects defines an object store. The store is a folder, which several nodes can mount, or
// a bucket of an S3-compatible server. Package trees stores code in it, and package contents stores
// the files that nodes share.
//
// # Objects
//
// An object has a key. It is put as a whole and never changed in place. After an interrupted put,
// neither Get nor List returns a partial object. Where the content matters, each key is used only
// once, or every put under the key has the same content. No operation needs a lock between nodes,
// or a conditional write, which not every S3 server supports.
//
// # What is removed, and why nothing is lost
//
// Other nodes can put objects at any time. An object that is not recorded yet is protected only by
// its age. To refer to an object, put it and then record the reference. To remove an object, list
// it, with its age by the store's clock. Then check whether the records refer to it, check for
// backups, and remove it.
//
// A removed object was old when it was listed, and unreferenced when checked afterwards. A needed
// object could be lost only if a later reference used an object that was put before the grace
// period. But each reference has its own put, which creates an object under a unique key, and it is
// recorded within minutes of the put. No older listing contains that key. It does not matter how
// long a removal was paused between two of these steps, or how many removals run concurrently. The
// remaining risk is a put whose record takes longer than the grace period, which is at least an
// hour.
//
// A sweep cannot determine why an object is unreferenced. For example, the record may have been
// lost. The sweep therefore first quarantines the object by putting a mark, which is another object
// (Aside). It removes the object only if it is still unreferenced a grace period later.
//
// # Backups
//
// Hold puts an object that all nodes can see. A removal checks for such an object as its last step.
// The backup reads the records after it has put the object. Either the removal finds the hold, or
// the removed object was unreferenced before the backup read the records.
package objects
