// Package audit decides which events a server lost, duplicated or reordered. It is pure: it turns
// observations into counts.
//
// It answers two questions. Did each subscriber receive each of its events exactly once and in
// rising order ([Auditor])? The reference is the union of the events that any subscriber received.
// Is every acknowledged write stored exactly once ([Reconcile])? The reference is the server's data
// afterwards. A comparison of the stored writes with the received events finds a stored write whose
// event reached nobody.
package audit
