// Package audit decides what a server lost, doubled or mixed up. It is pure:
// observations go in, counts come out.
//
// Two questions are kept apart. Did each subscriber get every event that is for
// it, exactly once and in rising order ([Auditor])? There the truth is the union
// of what anybody got. And is every write that was acknowledged there, exactly
// once ([Reconcile])? There the truth is what the server shows when it is asked
// afterwards; a write that is there while its event reached nobody is found by
// comparing the two counts.
package audit
