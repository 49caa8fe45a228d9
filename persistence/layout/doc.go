// Package layout defines the keys and values of a store: in Badger, and in the store's part
// of every backup, for any kind of store.
//
// The first byte of a key is its family: 'm' the store's metadata, 'j' chunks of logs, 's' heads of
// snapshots, 'p' their parts, 'r' rows. Every value is sealed with a checksum over its key and
// content. DESIGN.md of persistence/badger has the whole table.
package layout
