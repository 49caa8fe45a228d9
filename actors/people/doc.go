// Package people manages facilitators and assistants: their invitations, passwords and roles, and
// the codelabs in which an assistant helps.
//
// One actor contains all people, because they are few and change rarely. Each change is audited in
// its own commit, and requests are authorized by the committed View. A change that ends a person's
// sessions increments the generation of their record. A session contains the generation in which it
// was created, so it is void without being searched for.
//
// Commands contain only hashes of passwords and invitations. Each change to a person is an event
// with the whole record, so that earlier records, including hashes and names, can be erased from
// the log.
package people

//go:generate go run atelier/actors/internal/protogen
