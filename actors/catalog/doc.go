// Package catalog owns what belongs to the whole installation and not to one
// codelab: the list of codelabs, the audit trail, sessions and API tokens.
//
// The list and the audit trail are projections: the actor that decides a
// change writes the row in the same commit as its events, so they can neither
// miss a change nor tell of one that did not happen. Sessions are rows that
// are written once and only ever removed, so they need no actor; settings are
// a small actor of their own.
package catalog
