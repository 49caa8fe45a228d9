// Package keys decrypts the AI keys that people send: text that their browser encrypted with the
// admin's password.
//
// The text is "v1:" and the standard Base64 of salt(16) || iv(16) || ciphertext || tag(32).
// PBKDF2-HMAC-SHA256 with 100,000 rounds derives an encryption key (32) and a MAC key (32) from the
// password. Numbers in parentheses are bytes. The ciphertext is AES-256-CBC with PKCS#7. The tag is
// HMAC-SHA256 over all bytes before it, and is verified first, in constant time.
//
// A derivation takes about 50 ms of CPU, so a Ring runs only one derivation at a time, at a bounded
// rate. Concurrent callers with the same salt share a derivation. A caller that sends many wrong
// keys is refused for a while, before it can use up the rate of all callers. The ring caches the
// derived keys of verified salts for a while, under a keyed hash. It keeps neither derived keys of
// wrong guesses nor decrypted keys.
//
// Before the encrypted text is stored, it is encrypted again with the server's own key. A copy of
// the store therefore does not reveal the browser's text, on which passwords could be tried.
package keys
