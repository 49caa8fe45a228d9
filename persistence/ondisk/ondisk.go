// Package ondisk makes files and names survive a crash of the machine.
package ondisk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Replace writes a file that only its owner can read. After a crash, the file is either unchanged
// or complete. When Replace returns nil, the file and its name are on disk. A missing folder is
// created, for its owner only.
func Replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := MakeFolder(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	f, err := os.CreateTemp(dir, tempPrefix+"*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err = errors.Join(err, syncFile(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = SyncFolder(dir)
	}
	return err
}

// MakeFolder creates a folder and its missing parents. When it returns nil, their names are on
// disk. The name of an existing folder is also synced, because the process that created the folder
// may have ended before syncing.
func MakeFolder(dir string, mode fs.FileMode) error {
	above := filepath.Dir(dir)
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("make folder %s: a file with this name exists", dir)
	case err == nil:
		// This process can lack the permission to read the parent folder; this error is ignored.
		if err := SyncFolder(above); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := MakeFolder(above, mode); err != nil {
		return err
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncFolder(above)
}

const tempPrefix = ".new-"

// SyncFolder syncs the names in a folder.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(d), d.Close())
}

// syncFile can be replaced by tests.
var syncFile = (*os.File).Sync

// Unlock releases the lock (flock) of a file and closes it. Closing alone is not enough: between
// fork and exec, a new process shares the descriptors of this one, and would keep the lock.
func Unlock(f *os.File) error {
	return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
}
