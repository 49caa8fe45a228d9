// Package markdown reads the block structure of Markdown in linear time,
// whatever the text, and cuts out of it what is for facilitators alone.
//
// A note for facilitators is a fenced block whose info string begins with the word
// notes, or an <aside> element of the class facilitator. WithoutNotes gives what
// everybody else gets of a text. Where it can be read in two ways it is cut: a
// note that is not closed goes on to the end of the text, and a closing mark that
// could be part of the note is. The browser app has the same rules
// (transport/web/app/src/markdown/notes.ts); testdata/notes.json holds both to the
// same cases.
//
// Tasks gives the items of task lists that people tick, each with a key that both sides
// make of its text; testdata/tasks.json holds both to the same cases. Package markdown is
// pure.
package markdown
