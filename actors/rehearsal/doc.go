// Package rehearsal simulates the attendees of a rehearsal. They join, read at a human pace, tick
// tasks, get stuck, ask, chat, vote, answer the quiz, leave and return. They send the same commands
// as people, and use only data that people can see.
//
// The seed determines all random choices. Time comes from the codelab's clock.
package rehearsal
