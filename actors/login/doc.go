// Package login stores the login sessions: the grants of each session id.
//
// A family consists of all session ids that were issued from one another, and is stored as one row.
// Two tabs that register concurrently therefore change the same record, one after the other, and
// neither grant is lost. Logging out deletes one row. Every valid id has all attendee grants of its
// family. An admin's grant belongs to the id with which it was issued, and to the ids issued from
// that id. An id that an attacker planted in a browser therefore gains nothing when somebody logs
// in. A replaced id stays valid until one minute after the first use of its successor, because that
// use proves that the response arrived.
//
// A grant, and its end, is on disk before it is visible. Only the first use of an id is recorded
// without waiting for the disk. If this is lost, the next use records it again. A family has at
// most 32 valid ids, and an attendee is registered in at most 50 families. Beyond these limits, the
// oldest are dropped.
//
// Ending an attendee's grants does not search for them. Each grant contains the generation of the
// attendee's record. Resetting the PIN or removing the attendee changes or removes that generation
// in one commit, so that no grant is missed.
package login
