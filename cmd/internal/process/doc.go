// Package process is the common part of every binary. It prints its version, and keeps the
// secrets in its memory (credentials, keys, passwords) from being written to a disk or read
// by another process.
package process
