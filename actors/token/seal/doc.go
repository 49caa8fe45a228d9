// Package seal does the cryptography of tokens (transport/handler/RULES.md, "Secrets"), and nothing
// else: no storage, no rules.
//
// A token is 256 random bits behind a prefix that names its environment. The
// store never holds it. What is stored of a token lies under a keyed hash of
// it, and the credential in it is sealed with AES-256-GCM under a key derived
// from the token, the server's key, and a share: a secret that the tokens have
// in common that end in the same quarter of an hour, and that is destroyed when
// the quarter is over. So the database alone opens nothing, and the database
// with the server's keys and shares opens nothing either: that takes the token.
// And with the token nothing opens that is over, whatever the disk still holds
// of it. Every record carries a tag under the server's key, so a record that
// was changed, or put in another's place, is found out before it is believed.
//
// Server keys have versions. New tokens use the newest; the earlier ones stay
// in the Ring for as long as something made under them may live. All keys in
// use are derived for one environment and one stream of the store: restoring a
// backup changes the stream, and with it every key, so no token of a backup is
// ever found again.
package seal
