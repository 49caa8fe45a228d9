// Package files is the register of uploaded files: their names, metadata and references.
// Their contents are in a Blobs, which persistence implements.
//
// # Three tables
//
//   - uploads: the files that everybody can read who knows their name. The name is random, so it
//     reveals nothing about the content and cannot be guessed; two uploads of the same content have
//     two names.
//   - upload uses: which codelab refers to an upload, and from what. A codelab writes them in the
//     commit of the change.
//   - blob uses: references to a stored object, from an upload or a submission, which is not an
//     upload because only two people may read it. Written in the same commits.
//
// # What is removed, and when
//
// Drop removes an unreferenced upload immediately; it follows the removal of a reference. Sweep
// finds the remaining cases: uploads without a reference within the grace period, references of
// deleted codelabs, and unreferenced objects. A crash at any time leaves only what Sweep finds.
//
// A caller that is about to refer to an upload claims it until the reference is recorded, so that
// it is not removed in between. codelab.Codelab does so for each command. If a command's outcome is
// unknown, the claims remain for a while. When a text stops mentioning an upload, its reference
// ends only after the grace period, because texts are often changed back.
//
// A command with an unknown outcome (a timeout) is not followed by Drop or Discard, because it may
// still be recorded.
package files
