//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// file is an output file named by a flag.
type file struct{ flag, path string }

// checkFiles refuses paths that are "-" or a folder, or are in no existing folder. It also refuses
// one file for two outputs. Without this check, the error would only appear after the run.
func checkFiles(files []file) error {
	var problems []error
	for i, f := range files {
		if f.path == "" {
			continue
		}
		err := f.check()
		for _, other := range files[:i] {
			if err == nil && f.same(other) {
				err = fmt.Errorf("--%s and --%s are the same file: %s", other.flag, f.flag, f.path)
			}
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (f file) check() error {
	if f.path == "-" {
		return fmt.Errorf("--%s -: want a file; standard output has the report for people", f.flag)
	}
	if info, err := os.Stat(f.path); err == nil && info.IsDir() {
		return fmt.Errorf("--%s %s is a folder, want a file", f.flag, f.path)
	}
	if info, err := os.Stat(filepath.Dir(f.path)); err != nil || !info.IsDir() {
		return fmt.Errorf("--%s: there is no folder for %s", f.flag, f.path)
	}
	return nil
}

// same reports whether both names refer to one file, including through a link. It returns false for
// a device such as /dev/null, because two outputs can be written to it.
func (f file) same(other file) bool {
	a, errA := os.Stat(f.path)
	b, errB := os.Stat(other.path)
	if errA == nil && errB == nil {
		return a.Mode().IsRegular() && os.SameFile(a, b)
	}
	return filepath.Clean(f.path) == filepath.Clean(other.path)
}
