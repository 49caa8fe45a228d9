// Package calls orders concurrent calls of a store. A Gate lets Close wait for calls in progress.
// KeyLocks serialize calls for an actor. A Queue holds items for the Writer, the only goroutine
// that commits. Another goroutine stores Snapshots, and only the newest waiting snapshot of each
// log. The store that uses this package defines the data and its format.
package calls
