// Package layout defines the keys and values of a store. Badger uses this layout, and every kind of
// store uses it in backups.
//
// The first byte of a key is its family: 'm' the store's metadata, 'j' chunks of logs, 's' heads of
// snapshots, 'p' their parts, 'r' rows. Every value is sealed with a checksum over its key and
// content. DESIGN.md of persistence/badger has the complete table.
package layout
