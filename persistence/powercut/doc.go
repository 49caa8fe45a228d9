// Package powercut is a file system that records every change, and rebuilds the folder as it may be
// after a power failure.
//
// Disk is mounted through FUSE and stored in memory. The kernel's cache is on, so programs can map
// its files. Trace has the recorded calls, and can be written to a file. Rebuild takes a trace, a
// position in it and a seed, and returns a Folder. It is pure: the same arguments give the same
// folder. A Disk can also inject failures of calls (Inject).
//
// # What a sync promises
//
// The package assumes only the guarantees of Linux' journaling file systems:
//
//   - A sync of a file makes its content, size and mode last, and not its name.
//   - A sync of a folder makes the names in it last, and not what the files hold.
//   - Of a write that was not synced, any of its pages of 4 KiB may be there. The
//     pages that are there may lie behind others that are not, which then are zeros.
//   - A rename is atomic, also over another file. Either folder's sync makes it last.
//   - With Journaled, names and truncations reach the disk in the order of the
//     calls, as on ext4 and XFS: some number of the last ones is missing. With
//     Unordered each name that was made or changed may be missing, but what takes
//     content away still waits for the names before it. Without that, Badger loses
//     a memtable: it removes the log before the name of its table is on disk.
//   - A sync of a file that failed makes nothing last, and no later sync makes up for
//     it: the kernel may have dropped the pages and called them clean.
//   - A sync of a folder that failed makes nothing last, but a later one does: names
//     stay in the journal, or the file system becomes read-only.
//
// # Mapped memory
//
// A page that a program stores in mapped memory arrives with the next sync, or when the kernel
// writes it. So mapped writes directly after the cut can be present, too. Those after another call
// cannot, because the program may have stored them after that call. Folder.Reach returns the
// position after these writes.
//
// # What is not simulated
//
// Sectors torn within a page, disks that misreport syncs, damage to previously synced data.
// Symbolic links, extended attributes, holes, exchanging renames and unnamed temporary files are
// refused. Locks are the kernel's, and not part of a trace.
package powercut
