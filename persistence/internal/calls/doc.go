// Package calls orders the calls that are inside a store: a Gate lets Close wait
// for them, KeyLocks let one of them at a time work on an actor, a Queue
// holds what waits for the Writer, the one goroutine that commits, and Snapshots are stored
// by another, which does the newest of each log. What is written, and how, is the store's.
package calls
