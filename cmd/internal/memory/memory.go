// Package memory keeps what a process holds in memory from being written to a
// disk or read by another: credentials, keys, passwords.
package memory
