// Package house tests the conventions of the tree that a compiler does not check. A package imports
// only packages of lower layers, and actors use the clock of their node. Every dependency has a
// reason, and every package has an entry in the index. The amount of generated code is limited.
// Each package that handles requests has its own tests. Each interface has a complete description
// that client generators can read. Pages contain only commands, links and labels that exist.
package house

//go:generate go test . -run TestThePackageIndexMatchesTheDocumentation -update
