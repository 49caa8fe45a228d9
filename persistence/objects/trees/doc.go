// Package trees implements code.Store: the trees of workspaces in an object store, which several
// nodes can share.
//
// # Objects
//
//	workspaces/<id>/made-git       (or made-plain) empty; shows that the workspace exists
//	workspaces/<id>/trees/<tree>   a tree: its manifest and its new contents
//
// A tree is one object, put with one request. It consists of a line with the length and the SHA-256
// of the manifest, the manifest, and the contents that are new in the tree. The manifest lists all
// files, with their sums and the locations of their contents, in this object or in that of an
// earlier tree. Reading a file usually takes one request for the manifest, which is cached, and one
// for the content.
//
// In a Git repository each commit is a tree. The Git objects are derived from the manifest, and the
// manifest is verified against the hash of the commit. The objects are built when the repository is
// downloaded, with one request per commit. A plain tree refers to at most 16 other trees. A tree
// that would refer to more includes all of its contents.
//
// # Removal
//
// If several nodes share the objects, Publish removes nothing, because a node that was paused
// between the record and the Publish can pass outdated heads. Sweep reads the records itself, after
// it has listed the trees, and follows package objects. If only one process uses the objects
// (Options.Alone), Publish removes the plain trees that no head needs. A repository's trees are its
// history, and exist as long as the workspace.
//
// Lock and RLock are local to the node. Two nodes write the same workspace when one takes it over
// from the other. In that case they create trees with different names, and the codelab's record
// decides which tree is valid.
package trees
