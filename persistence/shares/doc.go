// Package shares stores secrets that are destroyed when they expire, as files of the secrets
// folder. [Store] contains the shares of token sealing keys (transport/handler/RULES.md,
// "Secrets"), and destroys each share after its quarter of an hour. [Ballots] contains the secrets
// of anonymous polls (transport/rest/RULES.md, "Polls"), and destroys each secret when its poll is
// closed.
//
// The token store retains replaced data. Its write-ahead log and tables contain every version of a
// record until they are compacted, minutes or days later, so overwriting a record does not erase
// it. Unsealing a record needs the token, the server key and the share. Destroying the share
// therefore erases the record.
//
// # Files
//
// For each quarter of an hour in which something expires, there is a file of 32 bytes, with mode
// 0600, which both environments use. In a cluster there is one for each node that created a share.
// The name of a file looks like this:
//
//	tokens-until-20260301T121500Z-8f2e61aa90b3c457
//
// The last part of the name is the share's id, a hash of the bytes, so that the file itself shows
// whether it is complete. Until writes and syncs the file, and then syncs the folder, before it
// returns. Data sealed under a share can therefore never outlive the share's file in a crash. When
// the share expires, it is wiped from memory. The file is overwritten with zeros, synced in place
// and removed, and the folder is synced. A crash in between leaves a file that the next start
// destroys by its name. Backups never contain such a file.
//
// # Time
//
// A share expires by the clock, or when its lifetime at creation, plus 1 %, has passed on a
// monotonic clock, whichever is earlier. Setting back the clock therefore extends its life by at
// most 1 %. A share found at startup gets at most Options.Longest plus a quarter of an hour, even
// if the clock is far behind. A stopped server destroys nothing. Its next start destroys expired
// shares before it serves requests.
//
// # Failure
//
// A secret counts as stored once it was written, synced, and read back. If a full or broken disk
// has left a part of a file, the next attempt writes the whole file again in place. Another sync
// alone is not enough: after a failed sync the system treats the pages as clean, so a second sync
// would report success for missing data.
//
// If a share cannot be created, the operations that need it fail, and there is no retry for one
// second. A file that cannot be destroyed is deactivated, logged, and retried. A damaged file is
// also deactivated. The tokens that need it count as expired.
package shares
