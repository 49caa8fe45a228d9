// Package shares stores secrets that are destroyed at their end, as files of the secrets
// folder. The shares of token sealing keys (transport/handler/RULES.md, "Secrets") are in a
// [Store], which destroys each after its quarter of an hour. The secrets of anonymous polls
// (transport/rest/RULES.md, "Polls") are in [Ballots], which destroys each when its poll is
// closed.
//
// The store of tokens keeps replaced data: its write-ahead log and the tables of its tree
// have every version of a record until they are compacted, minutes or days later. So
// overwriting a record does not erase it. It is erased by destroying the share, which its
// seal needs in addition to token and server key.
//
// # Files
//
// One file of 32 bytes, mode 0600, for each quarter in which something ends, for
// both environments:
//
//	tokens-until-20260301T121500Z-8f2e61aa90b3c457
//
// The last part is the share's id, a hash of the bytes, so a file itself shows whether it
// is complete. Before Until returns, a file is written and synced, and then its folder. So
// data sealed under a share never outlives the share's file in a crash. When its time has
// passed, it is wiped from memory. The file is overwritten with zeros, synced in place and
// removed, and the folder is synced. A crash in between leaves a file that the next start
// destroys by its name. None is ever part of a backup.
//
// # Time
//
// A share ends by the clock, or after the duration that it had when it was created: setting back
// the clock does not extend it. A share found at startup gets at most Options.Longest, which no
// token outlives, even if the clock is far behind. A stopped server destroys nothing; its next
// start does so before it serves.
//
// # Failure
//
// A stored secret was written, synced, and read back. If a full or broken disk has left a
// part of a file, the next attempt writes all of it again in place. After a failed sync the
// system treats its pages as clean, so a second sync would report success for missing data.
//
// If a share cannot be created, the operations that need it fail, and there is no retry for a
// second. A file that cannot be destroyed is deactivated, logged, and retried. A damaged file is
// deactivated, too: the tokens that need it have expired.
package shares
