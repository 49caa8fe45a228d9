// Package seal implements the cryptography of tokens (transport/handler/RULES.md, "Secrets"). It
// contains neither storage nor rules.
//
// A token is 256 random bits after a prefix for its environment. The store never contains it: the
// record of a token is stored under a keyed hash. The record's credential is sealed with
// AES-256-GCM under a key derived from the token, the server's key, and a share. All tokens that
// expire in the same quarter of an hour use the same share, which is destroyed after that quarter.
// As a result, neither the database alone, nor the database with the server's keys and shares, is
// enough to open a credential: the token is required as well. After expiry a credential cannot be
// opened even with the token, whatever data remains on the disk. Every record has a tag under the
// server's key, so that a changed or moved record is detected before it is used.
//
// Server keys have versions. New tokens use the newest; earlier keys stay in the Ring as long as
// data sealed under them can exist. All keys in use are derived for one environment and one stream
// of the store. Restoring a backup changes the stream, and with it every key, so that no token from
// a backup is ever found again.
package seal
