// Package markdown parses the block structure of Markdown in linear time for any text, and removes
// notes for facilitators.
//
// A note for facilitators is a fenced block whose info string begins with the word notes, or an
// <aside> element of the class facilitator. WithoutNotes returns the text for everybody else. Text
// that can be part of a note is removed. A note that is not closed extends to the end of the text.
// A closing marker that can belong to the note is removed with it. The browser app has the same
// rules (transport/web/app/src/markdown/notes.ts); testdata/notes.json has test cases for both.
//
// Tasks returns the items of task lists that people tick. Server and app derive the key of an item
// from its text; testdata/tasks.json has test cases for both. Package markdown is pure.
package markdown
