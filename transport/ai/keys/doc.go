// Package keys opens the AI keys that people send: text that was encrypted
// with the admin's password before it left their browser.
//
// A key travels as "v1:" and the standard Base64 of salt(16) || iv(16) ||
// ciphertext || tag(32). PBKDF2-HMAC-SHA256 over the password, 100,000 rounds,
// gives an encryption key (32) and a MAC key (32); the ciphertext is
// AES-256-CBC with PKCS#7, the tag HMAC-SHA256 over all before it, checked
// first and in constant time.
//
// A derivation takes some 50 ms of CPU, so a Ring does one at a time, once for
// all who wait for the same salt, and only so many a second; a caller
// that sends wrong ones delays only itself. It remembers the derived keys of
// salts that proved right, under a keyed hash and for a while: neither the
// password's product of a wrong guess nor any opened key stays behind.
//
// What an administrator stores is sealed once more with the server's own key,
// so a copy of the store does not give even the ciphertext away.
package keys
