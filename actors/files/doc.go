// Package files is the register of uploaded files: their names, metadata and references. The
// contents are in a Blobs, which persistence implements.
//
// # Three tables
//
//   - uploads: the files that everybody who knows their name can read. The name is random, so it
//     reveals nothing about the content and cannot be guessed. Two uploads of the same content have
//     different names.
//   - upload uses: the codelabs that refer to an upload, and the kind of each reference. A codelab
//     writes them in the commit of the change.
//   - blob uses: references to a stored object, from an upload or a submission. They are written in
//     the same commits. A submission is not an upload, because knowing a name must not be enough to
//     read it.
//
// # What is removed, and when
//
// Drop removes unreferenced uploads immediately. It is called after references were removed. Sweep
// finds the remaining cases: uploads without a reference within the grace period, references of
// deleted codelabs, and unreferenced objects. A crash at any time leaves only data that Sweep
// finds.
//
// A caller that is about to refer to an upload claims it until the reference is recorded, so that
// the upload is not removed in the meantime. codelab.Codelab does so for each command. If the
// outcome of a command is unknown, the claims remain for a while. When a text stops mentioning an
// upload, its reference ends only after the grace period, because texts are often changed back.
//
// After a command with an unknown outcome (a timeout), Drop and Discard are not called, because the
// command may still be recorded.
package files
