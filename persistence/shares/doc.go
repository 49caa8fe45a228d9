// Package shares keeps secrets that are to be destroyed for good, as files of the secrets
// folder: the shares of token sealing keys (transport/handler/RULES.md, "Secrets") in a
// [Store], which destroys each when its quarter of an hour is over, and the secrets of
// anonymous polls (transport/rest/RULES.md, "Polls") in [Ballots], which destroys each
// when its poll is closed.
//
// The store of tokens keeps what was replaced: its write-ahead log and the
// tables of its tree hold every version of a record until they are compacted,
// minutes or days later. So a record is not erased by writing over it; it is
// erased by destroying what its seal needs beside token and server key.
//
// # Files
//
// One file of 32 bytes, mode 0600, for each quarter in which something ends, for
// both environments:
//
//	tokens-until-20260301T121500Z-8f2e61aa90b3c457
//
// The last part is the share's id, a hash of the bytes, so a file says by itself
// whether it is whole. A file is written and synced, and then its folder, before
// Until returns: what is sealed under a share never outlives it in a crash. When
// its time is over it is wiped from memory, written over with zeros and synced in
// place, removed, and the folder synced. A crash on the way leaves a file that
// the next start destroys by its name. None is ever part of a backup.
//
// # Time
//
// A share is over when the clock says so, or when so much time has passed as it
// had when it was made: a clock that is set back does not prolong it. What was
// found at a start gets at most Options.Longest, which no token outlives, also
// when the clock is far behind. A server that is stopped destroys nothing; its
// next start does so before it serves.
//
// # Failure
//
// What is kept was written, synced, and read back. If a full or broken disk has
// left a part of a file, the next try writes all of it again in place: after a
// sync that failed, the system takes its pages for clean, so a second sync would
// say yes to what is not on the disk.
//
// A share that cannot be made fails what needs it, and is not tried again for a
// second. A file that cannot be destroyed is out of use, logged, and tried again.
// A file that is not what was written is out of use too: the tokens that need it
// have expired.
package shares
