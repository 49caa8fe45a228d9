// Package house holds the rules of the house that a compiler does not know, as
// tests: where imports may point, that actors take the time from the clock of their
// node, that dependencies have a reason and packages a place on the map, how much of
// the tree may be generated, that what crosses the wire has tests of its own, and
// that its descriptions are whole and generators of clients can read them.
package house

//go:generate go test . -run TestThePackageIndexIsTrue -update
