//go:build darwin || freebsd || netbsd

package ondisk

import "syscall"

// Changed is when anything of a file changed last, its name and rights too, in
// nanoseconds since 1970. No program can set it.
func Changed(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
