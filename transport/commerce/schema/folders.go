package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Open permits relative references to the files of these folders.
func (l *Library) Open(folders ...string) {
	for _, folder := range folders {
		abs, err := filepath.Abs(folder)
		if err != nil {
			continue
		}
		l.roots = append(l.roots, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
			l.roots = append(l.roots, real)
		}
	}
}

// Around returns the folder to open for a file named by a user: the working directory if it
// contains the file, else the file's own folder.
func Around(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Dir(path)
	}
	work, err := os.Getwd()
	if err == nil && strings.HasPrefix(abs, work+string(filepath.Separator)) {
		return work
	}
	return filepath.Dir(abs)
}

// within reports whether a file is in one of the folders after resolving symbolic links. Otherwise
// a stranger's schema could refer to any file, and findings and bundles would show its content.
func (l *Library) within(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return l.below(path)
}

func (l *Library) below(path string) bool {
	for _, root := range l.roots {
		relative, err := filepath.Rel(root, path)
		if err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// maxFiles bounds the files searched in a folder.
const maxFiles = 20_000

// Tree lists the *.json files below a folder in order, except in hidden folders and node_modules.
// Symbolic links are not followed.
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
		if len(files) >= maxFiles {
			return fmt.Errorf("%s has more than %d files", folder, maxFiles)
		}
		files = append(files, path)
		return nil
	})
	return files, err
}

// AddTree adds every document below a folder. Files that are not JSON are skipped. A reference to
// such a file is reported later.
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

// AddFolder adds the readable documents directly in a folder, at most maxFiles.
func (l *Library) AddFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var files []string
	for _, e := range entries {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".json" && len(files) < maxFiles {
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
	var syntax *SyntaxError
	return errors.As(err, &syntax)
}
