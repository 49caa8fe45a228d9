// Package workspaces keeps code: named trees of files, of two kinds. One is a
// Git repository, whose trees are commits; the other plain folders.
//
// # Trees and heads
//
// A tree never changes. Write makes a new one out of another and a change, and
// what it made is on disk when it returns; until somebody refers to it nobody
// sees it. Which trees count, and under which names, is for the caller to
// record; Publish then makes the repository's branches say the same, and lets
// plain trees go that no head names. So writers of different branches cannot
// mix, a change of many files happens as a whole or not at all, and a crash
// leaves at most a tree that nobody refers to: Publish and Sweep clean up.
//
// There is no checked-out copy that writers share: objects are written
// straight into the repository, and what is downloaded is put together from
// them.
//
// # Locks
//
// Lock is for those who write and publish, RLock for those who read what is
// published; both take a key of the caller's. Hold keeps everything that was
// ever referred to until it is released, which is what a backup needs.
//
// # Paths
//
// Paths are relative, with slashes, at most 1,024 bytes, and never lead out of
// the tree or into a repository's own folder, however that is spelled
// (CheckPath). New files have names that Windows can check out (CheckNewPath). No two
// paths of a tree differ only in case or in Unicode form:
// such a tree could not be checked out everywhere. Everything is opened below
// an os.Root, and only plain files are read.
package workspaces
