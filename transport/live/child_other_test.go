//go:build !linux

package live

// runChild is for benchmarks of features that only Linux has.
func runChild() bool { return false }
