//go:build darwin || freebsd || netbsd

package ondisk

import "syscall"

// Changed returns the time of the last change of a file, including its name and permissions, in
// nanoseconds since 1970. No program can set it.
func Changed(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
