// Package naming holds the grammar of names and versions, ranges of versions,
// and who may speak for a name.
package naming
