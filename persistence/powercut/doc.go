// Package powercut is a file system that remembers every change, and rebuilds the
// folder as it may look after a power cut.
//
// Disk is mounted through FUSE and stored in memory. The kernel's cache is on, so programs
// can map its files. Trace has the recorded calls, and can be written to a file. Rebuild
// takes a trace, a point in it and a seed, and returns a Folder. It is pure: the same three
// give the same folder. A Disk can also inject failures of calls (Inject).
//
// # What a sync promises
//
// The package assumes the least that Linux' journaling file systems promise:
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
// A page that a program stores into mapped memory arrives with the next sync, or when the
// kernel writes it. So mapped writes directly after the cut can be there as well. Those
// after another call cannot, because the program may have stored them after that call.
// Folder.Reach returns how far that went.
//
// # What is not simulated
//
// Sectors torn within a page, disks that lie about a sync, damage to data synced earlier.
// Symbolic links, extended attributes, holes, exchanging renames and unnamed temporary
// files are refused. Locks are the kernel's, and no part of a trace.
package powercut
