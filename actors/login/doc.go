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
// A grant is stored before it is visible, and so is its end by logging out or leaving. The first
// use of an id and the last use of a login are recorded without waiting for the store. If such a
// record is lost, a later use records it again. A single server also does not wait when it takes
// the grants of a deleted attendee, or the oldest grant of an attendee in too many families. A
// family has at most 32 valid ids, and an attendee is registered in at most 50 families. Beyond
// these limits, the oldest ids (unused ones first) and the oldest grants are removed.
//
// Ending an attendee's grants does not search for them. Each grant contains the generation of the
// attendee's record. Resetting the PIN or removing the attendee changes or removes that generation
// in one commit, so that no grant is missed.
package login
