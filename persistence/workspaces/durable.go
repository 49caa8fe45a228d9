package workspaces

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// syncer makes files, and the names in folders, last. told, if set, is told of
// each afterwards: tests look at the order.
type syncer struct{ told func(path string) }

func (y syncer) tell(path string) {
	if y.told != nil {
		y.told(path)
	}
}

// sync makes a file, or the names in a folder, last.
func (y syncer) sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if err == nil {
		y.tell(path)
	}
	return errors.Join(err, f.Close())
}

// all makes everything below a folder last.
func (y syncer) all(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		return y.sync(path)
	})
}

func sizeOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && e.Type().IsRegular() {
			total += max(info.Size(), 4096)
		}
		return nil
	})
	return total, err
}
