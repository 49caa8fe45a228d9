//go:build !linux

package live

// runChild is for benchmarks of what only Linux has.
func runChild() bool { return false }
