// Package ondisk makes files and names outlive a crash of the machine.
package ondisk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file that its owner alone may read. After a crash it is as
// before or whole; when Replace returns nil it is on disk, and so is its name.
// A folder that is not there is made, for its owner alone.
func Replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
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
		// The folder above too, which may just have got this one.
		err = errors.Join(SyncFolder(dir), SyncFolder(filepath.Dir(dir)))
	}
	return err
}

// MakeFolder makes a folder and those above it that are missing. When it returns
// nil their names are on disk. The name of a folder that is there already is put on
// disk too: the process that made it may not have come so far.
func MakeFolder(dir string, mode fs.FileMode) error {
	above := filepath.Dir(dir)
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("make folder %s: there is a file of that name", dir)
	case err == nil:
		// The operator's folder can be in one that this process cannot read.
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

// SyncFolder puts the names in a folder on disk.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(d), d.Close())
}

// syncFile is what tests look at.
var syncFile = (*os.File).Sync
