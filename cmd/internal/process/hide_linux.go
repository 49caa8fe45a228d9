package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Hide switches core dumps off and makes the process not dumpable: nobody
// without CAP_SYS_PTRACE, its own user included, attaches to it or reads its
// memory or environment under /proc. Data about only its size and its time, /proc/PID/stat
// and status, anybody may read as before.
func Hide() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core dumps off: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process not dumpable: %w", err)
	}
	return nil
}
