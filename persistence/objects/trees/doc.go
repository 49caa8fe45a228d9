// Package trees implements code.Store: the trees of workspaces in a store of
// objects, which several nodes may share.
//
// # Objects
//
//	workspaces/<id>/made-git       empty: the workspace was made; or made-plain
//	workspaces/<id>/trees/<tree>   a tree: its manifest, and what is new in it
//
// A tree is one object, put with one request. It has a line with the length and the SHA-256 of the
// manifest, the manifest, and the contents that are new in the tree. The manifest lists all files,
// with their sums and the locations of their contents: here, or in the object of an earlier tree.
// So reading a file takes a request for the manifest, which is cached, and one for the content.
//
// In a Git repository each commit is a tree. Its Git objects are derived from the manifest, which
// is verified against the hash of the commit. They are built when the repository is downloaded,
// with one request per commit. A plain tree refers to at most 16 others; a tree that would refer to
// more includes all of its contents.
//
// # Removal
//
// If several nodes share the objects, Publish removes nothing: a node that was paused between the
// record and the Publish may name outdated heads. Sweep reads the records itself, after it has
// listed the trees, and follows package objects. If one process uses them alone (Options.Alone),
// Publish removes the plain trees that no head needs. Trees of a repository are its history, and
// are kept as long as the workspace.
//
// Lock and RLock are local to the node. Two nodes that write one workspace, which happens when one
// takes it over, create trees with different names; the codelab's record decides which of them is
// valid.
package trees
