package library

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"atelier/transport/commerce/document"
)

// MaxFiles bounds how many files a folder is looked through for.
const MaxFiles = 20_000

// Tree lists the *.json files below a folder in order, hidden folders and
// node_modules aside. Symbolic links are not followed.
func Tree(folder string) (files []string, err error) {
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
		if len(files) >= MaxFiles {
			return fmt.Errorf("%s has more than %d files", folder, MaxFiles)
		}
		files = append(files, path)
		return nil
	})
	return files, err
}

// AddTree adds every document below a folder. A file that is no JSON is
// left out: it is none of ours until something refers to it.
func (l *Library) AddTree(folder string) error {
	files, err := Tree(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := l.AddFile(f); err != nil && !isSyntax(err) {
			return err
		}
	}
	return nil
}

// Named finds a document of the library by the name and version it states.
func (l *Library) Named(name, version string) (*Resource, bool) {
	for _, r := range l.byFile {
		root, _ := r.Root().(map[string]any)
		if root["name"] == name && root["version"] == version {
			return r, true
		}
	}
	return nil, false
}

func isSyntax(err error) bool {
	var syntax *document.SyntaxError
	return errors.As(err, &syntax)
}
