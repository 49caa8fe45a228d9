package lint

import (
	"io/fs"
	"os"
	"slices"

	"atelier/transport/commerce/library"
)

// expand lists the files of paths: a file as it is, of a folder all *.json
// below it, hidden folders aside. References may lead to what was named.
func expand(lib *library.Library, paths []string) (files []string, failed []Finding) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			failed = append(failed, New("io", path, reason(err)))
			continue
		}
		if !info.IsDir() {
			lib.Open(library.Around(path))
			files = append(files, path)
			continue
		}
		lib.Open(path)
		found, err := library.Tree(path)
		if err != nil {
			failed = append(failed, New("io", path, reason(err)))
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), failed
}

// reason is an error of the file system without the path, which the finding has.
func reason(err error) string {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err.Error()
	}
	return err.Error()
}
