// Package powercut provides a file system that records every change, and rebuilds a folder in a
// state in which a power failure can leave it.
//
// Disk is mounted through FUSE and stored in memory. The kernel's cache is on, so programs can map
// its files. Trace contains the recorded calls, and can be written to a file. Rebuild takes a
// trace, a position in it and a seed, and returns a Folder. It is pure: the same arguments yield
// the same folder. A Disk can also inject failures of calls (Inject).
//
// # What a sync promises
//
// The package assumes only the guarantees of the journaling file systems of Linux:
//
//   - A sync of a file makes its contents, size and mode durable, but not its name.
//   - A sync of a folder makes its names durable, but not the contents of the files.
//   - Of a write that was not synced, any of its pages of 4 KiB can be present. A missing
//     page keeps its old content. Beyond the old end of the file, it consists of zeros if a
//     later page is present.
//   - A rename is atomic, even over another file. A sync of either folder makes it durable.
//   - With Journaled, names and truncations reach the disk in the order of the calls, as on
//     ext4 and XFS, so some of the last calls can be missing. With Unordered, each new or
//     changed name can be missing. Removals and truncations still wait for earlier names.
//     Otherwise Badger would lose a memtable: it removes the log before the name of its
//     table is on disk.
//   - A failed sync of a file makes nothing durable, and no later sync makes up for it: the
//     kernel may have dropped the pages and marked them clean.
//   - A failed sync of a folder makes nothing durable, but a later one does: names stay in
//     the journal, or the file system becomes read-only.
//
// # Mapped memory
//
// A page that a program stores in mapped memory arrives with the next sync, or when the kernel
// writes it. Mapped writes that directly follow the cut can therefore also be present. Mapped
// writes after another call cannot, because the program may have stored their data after that call.
// Folder.Reach is the position after the mapped writes that are present.
//
// # What is not simulated
//
// Sectors torn within a page, disks that misreport syncs, and damage to previously synced data are
// not simulated. Symbolic links, extended attributes, holes, exchanging renames and unnamed
// temporary files are refused. The kernel manages locks, so they are not part of a trace.
package powercut
