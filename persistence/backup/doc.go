// Package backup defines the format of backups: a stream of named sections, one per part of the
// data folder.
//
// # Format
//
// The first line is "atelier-backup 2". Each section is a line "section <name>", followed by its
// content in checked frames (frames.go), which end with the length and the SHA-256 of the content.
// The last line is "end". A backup of version 1 contains only the store, and is restored as the
// section "store".
//
// # Promises
//
// Write saves the sections in order while the server runs. A section can refer to objects of a
// later section, so the section with the references is saved first. Write calls the Hold of every
// section before it saves any. Until the end of the backup, no referenced object is therefore
// removed.
//
// Restore builds every section in a temporary folder. It puts the sections in place only after the
// whole backup was read and verified. Restoring a damaged backup, a backup of a newer program, or
// one with an unknown section changes nothing.
package backup
