// Package code defines the code of a codelab, which consists of named trees of files, and the store
// of these trees. A workspace is either a Git repository, whose trees are commits, or plain
// folders.
//
// A tree never changes. A write applies a change to a tree and creates a new tree. The codelab's
// actor records the current trees; the store is updated afterwards.
//
// Paths are relative, with slashes, and have at most 1,024 bytes. They never lead out of the tree
// or into a repository's own folder, in any spelling (CheckPath). New files have names that Windows
// can check out (CheckNewPath). No two paths of a tree differ only in case or Unicode form, because
// such a tree could not be checked out everywhere.
package code
