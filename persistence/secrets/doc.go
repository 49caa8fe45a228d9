// Package secrets stores the server's secrets in files of the data folder, readable only by their
// owner and always replaced as a whole. It never prints one.
//
// A file has one secret, or the keys of tokens, one version after the other. A key has a checksum,
// because a key with a wrong bit would silently make everything that it protects invalid. A
// password is a single line, because people read it. Files without a checksum are also accepted.
package secrets
