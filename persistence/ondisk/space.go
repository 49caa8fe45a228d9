package ondisk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FreeBytes is what an unprivileged process may still write to dir's disk.
func FreeBytes(dir string) (uint64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	// Converted, because the widths differ from system to system.
	return uint64(fs.Bavail) * uint64(fs.Bsize), nil
}
