// Package house holds the conventions of the tree that a compiler does not check, as tests.
// Imports must point down, and actors must use the clock of their node. Every dependency
// has a reason, and every package a place in the index. Generated code is limited.
// Everything that crosses the wire has tests of its own, and a complete description that
// generators of clients can read.
package house

//go:generate go test . -run TestThePackageIndexIsTrue -update
