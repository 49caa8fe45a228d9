// Package catalog is the list of codelabs, and queries across all codelabs. It consists of
// projections. The codelab that decides a change writes the projections in the same commit as its
// events, so that they neither miss a change nor show one that did not happen.
package catalog
