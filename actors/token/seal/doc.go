// Package seal has the cryptography of tokens (transport/handler/RULES.md, "Secrets"), without
// storage and rules.
//
// A token is 256 random bits after a prefix for its environment. The store never contains it. The
// record of a token is stored under a keyed hash. Its credential is sealed with AES-256-GCM under a
// key derived from the token, the server's key, and a share. All tokens that end in the same
// quarter of an hour have a common share, which is destroyed after that quarter. So neither the
// database alone, nor the database with the server's keys and shares, is enough to open a
// credential: that needs the token. After expiry even the token opens nothing, whatever remains on
// the disk. Every record has a tag under the server's key, so a record that was changed or moved is
// detected before it is used.
//
// Server keys have versions. New tokens use the newest; earlier ones are kept in the Ring as long
// as something made with them can exist. All keys in use are derived for one environment and one
// stream of the store. Restoring a backup changes the stream, and with it every key, so no token of
// a backup is ever found again.
package seal
