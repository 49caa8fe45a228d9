package ondisk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// FreeBytes returns how many bytes an unprivileged process can still write to dir's disk.
func FreeBytes(dir string) (uint64, error) {
	free, _, err := Space(dir)
	return free, err
}

// Space returns the bytes that an unprivileged process can still write to dir's disk, and the size
// of the disk.
func Space(dir string) (free, total uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	// The conversion is needed because the types differ between systems.
	return uint64(st.Bavail) * uint64(st.Bsize), uint64(st.Blocks) * uint64(st.Bsize), nil
}

// Size returns the disk space of dir and of the files and folders below it, in bytes. It can
// include files that are removed meanwhile. It opens no file, and fails when ctx ends.
func Size(ctx context.Context, dir string) (bytes uint64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return gone(err)
		}
		info, err := d.Info()
		if err != nil {
			return gone(err)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			bytes += uint64(st.Blocks) * 512 // the unit of st_blocks, on every system
		}
		return nil
	})
	return bytes, err
}

// gone returns nil for a file that was removed during the walk.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Reserve ensures that the first bytes of a file can be written even through a memory map, where a
// full disk causes a signal instead of an error. If the system or the file system does not support
// this, Reserve does nothing.
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
