//go:build !linux

package rest

// hungUp returns false, because on this system it cannot determine whether the peer has closed the
// connection. The work therefore always continues to its end.
func hungUp(int) bool { return false }
