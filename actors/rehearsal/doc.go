// Package rehearsal plays the attendees of a rehearsal: simulated people who come in, read
// at a human pace, tick tasks, get stuck, ask, chat, vote, answer the quiz, go away and
// come back. They act by the commands of people and know no more than these see.
//
// All that is random follows from the seed. Time comes from the codelab's clock.
package rehearsal
