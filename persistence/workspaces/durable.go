package workspaces

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// syncFolder makes the names in a folder last.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// syncAll makes everything below a folder last.
func syncAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		return syncFolder(path) // a file is synced the same way
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

func sorted(files map[string]entry) []string {
	out := slices.Sorted(maps.Keys(files))
	if out == nil {
		out = []string{}
	}
	return out
}
