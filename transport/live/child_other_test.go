//go:build !linux

package live

// runChild does nothing: only benchmarks for Linux need a child process.
func runChild() bool { return false }
