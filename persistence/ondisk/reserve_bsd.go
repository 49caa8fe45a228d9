//go:build darwin || freebsd || netbsd

package ondisk

// reserve does nothing, because these systems cannot reserve space in a hole.
func reserve(int, int64) error { return nil }
