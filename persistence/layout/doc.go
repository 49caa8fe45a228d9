// Package layout is how the content of a store lies in keys and values: in
// Badger, and in the store's part of every backup, whichever store it is of.
//
// The first byte of a key is its family: 'm' what the store says about itself,
// 'j' chunks of logs, 's' heads of snapshots, 'p' their parts, 'r' rows. Every
// value is sealed with a checksum over its key and content. DESIGN.md of
// persistence/badger has the whole table.
package layout
