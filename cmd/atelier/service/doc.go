// Package service puts the server together: the store, the actors, the
// listeners, and the order in which they start and stop. Nothing is decided
// here; it is the list of what there is.
package service
