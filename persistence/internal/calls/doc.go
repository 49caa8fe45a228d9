// Package calls orders concurrent calls of a store. A Gate lets Close wait for calls in progress.
// KeyLocks serialize calls for an actor. A Queue holds items for the Writer, the only goroutine
// that commits batches and rows. Another goroutine stores Snapshots. Of each log's waiting
// snapshots, it stores only the newest. The store that uses this package defines the data and its
// format.
package calls
