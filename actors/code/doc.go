// Package code defines the code of a codelab: named trees of files, of two kinds, and their store.
// One kind is a Git repository with commits as trees. The other kind is plain folders.
//
// A tree never changes. A write applies a change to a tree and creates a new tree. The codelab's
// actor records the current trees; the store is updated afterwards.
//
// Paths are relative, with slashes, at most 1,024 bytes, and never lead out of the tree or into a
// repository's own folder, in any spelling (CheckPath). New files have names that Windows can check
// out (CheckNewPath). No two paths of a tree differ only in case or Unicode form: such a tree could
// not be checked out everywhere.
package code
