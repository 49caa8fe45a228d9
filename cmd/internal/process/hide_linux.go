package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Hide disables core dumps and makes the process not dumpable. Without CAP_SYS_PTRACE, nobody can
// then attach to the process or read its memory or environment under /proc, not even its own user.
// Everybody can still read its size and its times (/proc/PID/stat and status).
func Hide() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core dumps off: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process not dumpable: %w", err)
	}
	return nil
}
