// Package secrets keeps the server's secrets in files of the data folder,
// readable by their owner only and replaced as a whole. It never prints one.
//
// A file holds one secret, or the keys of tokens: one version after the other. A
// key has its checksum beside it, for a key with a wrong bit would silently make
// everything that it protects invalid. A password is a line alone, since people
// read it. Files without a checksum are read as well.
package secrets
