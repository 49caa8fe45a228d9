// Package catalog is the list of codelabs, and what can be asked of all of them
// at once: projections that the codelab which decides a change writes in the
// same commit as its events, so they can neither miss a change nor tell of one
// that did not happen.
package catalog
