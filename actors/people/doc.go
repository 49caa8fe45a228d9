// Package people owns facilitators and assistants: their invitations, passwords and roles,
// and the codelabs in which an assistant helps.
//
// One actor holds all of them; they are few and change rarely. Each change is audited
// in its own commit, and requests are judged by the committed View. What ends a
// person's sessions moves on the generation of their record: a session names the
// generation that it was made in, and none can be missed.
//
// Neither a password nor an invitation gets here, only hashes. Each change of a person
// is an event with the whole record, so what an earlier one held, hashes and names
// included, is erased from the log.
package people
