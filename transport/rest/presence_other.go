//go:build !linux

package rest

// hungUp is not known here: work goes on to its end.
func hungUp(int) bool { return false }
