// Package audit decides which events a server lost, duplicated or reordered. It is pure: it turns
// observations into counts.
//
// It answers two questions. Did each subscriber get every event that is for it, exactly
// once and in rising order ([Auditor])? There the truth is the union of the events that any
// subscriber received. And is every acknowledged write there, exactly once ([Reconcile])?
// There the truth is the server's answer afterwards. A write that is there while its event
// reached nobody is found by comparing the two counts.
package audit
