// Package trees implements code.Store: the trees of workspaces in a store of
// objects, which several nodes may share.
//
// # Objects
//
//	workspaces/<id>/made-git       empty: the workspace was made; or made-plain
//	workspaces/<id>/trees/<tree>   a tree: its manifest, and what is new in it
//
// A tree is one object, put with one request: a line with the length and the
// SHA-256 of the manifest, the manifest, and the contents that the tree brings.
// The manifest names all files, with their sums and where their contents lie:
// here, or at a place of the object of an earlier tree. So reading a file takes
// a request for the manifest, which is remembered, and one for the content.
//
// In a Git repository each commit is a tree. Its Git objects follow from the manifest,
// which is verified against the hash of the commit. They are made when the repository is
// downloaded, with one request per commit. A plain tree refers to at most 16 others; a tree
// that would refer to more includes all of its contents.
//
// # Who removes
//
// Where several nodes share the objects, Publish removes nothing: a node that
// was stopped between the record and the Publish may name heads that do not
// count any more. Sweep asks the records itself, after it has listed the trees,
// and follows package objects. Where one process has them alone
// (Options.Alone), Publish removes the plain trees that no head needs. Trees of
// a repository are its history, and stay until the workspace goes.
//
// Lock and RLock are the node's own. Two nodes that write one workspace, which
// happens when one takes it over, make trees of different names; which of them
// counts is decided by the codelab's record.
package trees
