package ondisk

import (
	"errors"
	"fmt"
	"os"

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

// Reserve makes sure that the first bytes of a file can be written, also
// through a memory map, where a full disk is a signal and no error. Where the
// file system cannot do that it does nothing.
func Reserve(path string, bytes int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = reserve(int(f.Fd()), bytes)
	if err != nil {
		err = fmt.Errorf("reserve %d bytes for %s: %w", bytes, path, err)
	}
	return errors.Join(err, f.Close())
}
