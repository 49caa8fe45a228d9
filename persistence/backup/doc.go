// Package backup defines the format of backups: a stream of named sections, one per part of the
// data folder.
//
// # Format
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
// Restore builds every section in a temporary folder and renames it only after the whole backup was
// read and verified. A damaged backup, one of a newer program, and one with an unknown section
// change nothing.
package backup
