// Package backup is the form of a backup: a stream of named sections, one for
// each part of the data folder.
//
// # Form
//
// The first line is "atelier-backup 2". Each section is a line
// "section <name>", and its content in checked frames (frames.go), which end
// with its length and its SHA-256. The line "end" is the last. A backup of
// version 1 is the store alone; it restores as the section "store".
//
// # Promises
//
// Write saves the sections in order while the server runs. A section can refer to objects
// of a later one, so the one with the references comes first. The Hold of every section is
// called before any is saved; until the end no referenced object is removed.
//
// Restore builds every section in a folder beside and gives it its name only
// when the whole backup was read and right. A damaged backup, one of a newer
// program, and one with a section that this program does not know, change
// nothing.
package backup
