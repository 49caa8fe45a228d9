// Package process is what every binary does for itself: it says what it is, and
// keeps what it holds in memory (credentials, keys, passwords) from being written
// to a disk or read by another process.
package process
