// Package catalog contains the list of codelabs and the queries across all codelabs. It reads
// projections, which each codelab writes in the same commit as its events. The projections
// therefore never miss a change, and never show a change that did not happen.
package catalog
