// Package code defines the code of a codelab, and the store that keeps it. The code consists of
// named trees of files. A workspace is either a Git repository, whose trees are commits, or plain
// folders.
//
// A tree never changes. A write applies a change to a tree and stores the result as a new tree. The
// codelab's actor then records which trees are current. After that, the store publishes them
// (Store.Publish).
//
// Paths are relative, with slashes, and have at most 1,024 bytes. They never lead out of the tree
// or into a repository's own folder, in any spelling (CheckPath). New files have names that Windows
// can check out (CheckNewPath). No two paths of a tree differ only in case or Unicode form, because
// such a tree could not be checked out everywhere.
package code
