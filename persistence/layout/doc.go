// Package layout defines the keys and values of a store. The Badger store uses this layout, and
// every store that can be backed up uses it in backups.
//
// The first byte of a key is its family: 'm' the store's metadata, 'j' chunks of logs, 's' heads of
// snapshots, 'p' their parts, 'r' rows. Every value is sealed with a checksum over its key and
// content. DESIGN.md of persistence/badger has the complete table.
package layout
