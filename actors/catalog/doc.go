// Package catalog contains the list of codelabs and the queries across all codelabs. It reads rows
// that each codelab writes in the same commits as its events. The rows therefore never miss a
// change, and never show a change that did not happen.
package catalog
