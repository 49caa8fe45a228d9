// Package login keeps the login sessions: which session id may do what.
//
// All session ids that were issued from one another are a family, and a family is one row.
// So two tabs that register at once change the same record, one after the other, and
// neither grant is lost. Logging out is one deletion. Every valid id has all attendees'
// grants of its family. An admin's grant belongs to the id with which it was issued and to
// ids issued from that. So an id that an attacker planted in a browser gains nothing when
// somebody logs in. A replaced id stays valid until its successor was used, which proves
// that the answer arrived, and a minute longer.
//
// A grant is on disk before it is seen, and so is its end. Only the note that an
// id was used is not waited for: should it be lost, the next use makes it again.
// A family has at most 32 good ids, and an attendee is registered in at most 50
// families; the oldest go.
//
// Grants of an attendee are not looked for when they end. Each names the generation
// of the attendee's record; resetting the PIN or removing the attendee moves that
// on, or away, in one commit, and none can be missed.
package login
