package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
		if filepath.Ext(path) != ".json" || !d.Type().IsRegular() {
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
	l.Open(folder)
	for _, f := range files {
		if _, err := l.AddFile(f); err != nil && !isSyntax(err) {
			return err
		}
	}
	return nil
}

// AddFolder adds the documents right in a folder, those that can be read.
func (l *Library) AddFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var files []string
	for _, e := range entries {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".json" && len(files) < MaxFiles {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	l.Open(folder)
	for _, f := range files {
		if _, err := l.AddFile(f); err != nil && !isSyntax(err) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

func isSyntax(err error) bool {
	var syntax *document.SyntaxError
	return errors.As(err, &syntax)
}
