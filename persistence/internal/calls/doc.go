// Package calls orders concurrent calls of a store. A Gate lets Close wait for them. KeyLocks
// serialize calls for an actor. A Queue holds items for the Writer, the only goroutine that
// commits. Another goroutine stores Snapshots, only the newest of each log. The store defines the
// data and its format.
package calls
