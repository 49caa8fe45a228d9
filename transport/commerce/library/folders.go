package library

import (
	"os"
	"path/filepath"
	"strings"
)

// Open lets relative references lead to the files of these folders, too.
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

// Around is the folder to open for a file that somebody named: the one they
// are working in when the file is there, else its own.
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

// within tells whether a file is in one of the folders, where symbolic links
// lead: schemas come from strangers, and what a reference finds is told in
// findings and in bundles.
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
