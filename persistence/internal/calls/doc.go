// Package calls orders concurrent calls of a store. A Gate lets Close wait for them.
// KeyLocks serialize calls on an actor. A Queue holds items for the Writer, the one
// goroutine that commits. Another goroutine stores Snapshots, only the newest of each log.
// The store defines the data and its format.
package calls
