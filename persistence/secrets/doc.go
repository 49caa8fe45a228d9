// Package secrets stores the server's secrets in files of the data folder. Only the owner can read
// the files, and a file is always replaced as a whole. The package never prints a secret.
//
// A file contains one secret, or all versions of the token keys. A key file has a checksum, because
// a key with a wrong bit would silently invalidate everything that it protects. A password file is
// a single line without a checksum, because people read it. Files with a single key are also
// accepted without a checksum.
package secrets
