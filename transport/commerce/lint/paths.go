package lint

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFiles bounds how many files one run looks at.
const maxFiles = 20_000

// expand lists the files of paths: a file as it is, of a folder all *.json
// below it, hidden folders aside.
func expand(paths []string) (files []string, failed []Finding) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			failed = append(failed, New("io", path, reason(err)))
			continue
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		found, err := below(path)
		if err != nil {
			failed = append(failed, New("io", path, reason(err)))
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), failed
}

func below(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != folder && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".json" {
			return nil
		}
		if len(files) >= maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		files = append(files, path)
		return nil
	})
	return files, err
}

// reason is an error of the file system without the path, which the finding has.
func reason(err error) string {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err.Error()
	}
	return err.Error()
}
