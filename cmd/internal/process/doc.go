// Package process is the common part of every binary. It describes the binary's version. It also
// prevents secrets in memory (credentials, keys, passwords) from being written to disk or read by
// another process.
package process
