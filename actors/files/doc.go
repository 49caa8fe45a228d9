// Package files is the register of uploaded files: their names, metadata and references.
// Their contents are in a Blobs, which persistence implements.
//
// # Three tables
//
//   - uploads: the files that everybody may read who knows their name. The name
//     is random, so it tells nothing of the content and nobody finds it by
//     trying; two uploads of one content have two names.
//   - upload uses: which codelab refers to an upload, and by what. A codelab
//     writes them in the commit of the change.
//   - blob uses: what refers to a content: an upload, or a submission, which is
//     no upload since only two may read it. Written in the same commits.
//
// # What goes, and when
//
// Drop removes an upload at once when nothing refers to it; it follows the
// removal of a reference. Sweep finds the rest: uploads that nobody referred to
// within the grace period, references of codelabs that are gone, contents that
// nothing refers to. A crash at any place leaves only what Sweep finds.
//
// A caller that is about to refer to an upload claims it until the reference is recorded, so
// that it is not removed in between. codelab.Codelab does so for each command. If the outcome
// of a command is unknown, the claims stay for a while. When a text stops mentioning an upload,
// its reference ends only after the grace period, because texts are often changed back.
//
// A command whose outcome is unknown (it timed out) is followed by no Drop and
// no Discard: it may still be recorded.
package files
