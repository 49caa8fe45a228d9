package workspaces

import (
	"strings"

	"atelier/actors/code"
)

// Bounds of a workspace.
const (
	maxFile      = 8 << 20
	maxTree      = 64 << 20
	maxWorkspace = 512 << 20
)

// entry is a file of a tree.
type entry struct {
	size    int64
	ref     string // what the kind knows the content by; "" for new content
	content []byte
}

// apply returns the files of a tree after a change, or a *Problem.
func apply(before map[string]entry, c code.Change) (map[string]entry, error) {
	after := make(map[string]entry, len(before)+len(c.Write))
	for path, e := range before {
		after[path] = e
	}
	for _, path := range c.Delete {
		if err := code.CheckPath(path); err != nil {
			return nil, err
		}
		if _, exists := before[path]; !exists {
			return nil, code.ErrNotFound
		}
		delete(after, path)
	}
	written := map[string]bool{}
	for _, f := range c.Write {
		if err := code.CheckPath(f.Path); err != nil {
			return nil, err
		}
		if written[f.Path] {
			return nil, code.Fault("%s is given twice", f.Path)
		}
		if len(f.Content) > maxFile {
			return nil, code.Fault("%s is larger than %d MiB", f.Path, maxFile>>20)
		}
		written[f.Path] = true
		after[f.Path] = entry{size: int64(len(f.Content)), content: f.Content}
	}
	return after, check(after)
}

// check looks at a tree as a whole.
func check(files map[string]entry) error {
	if len(files) > code.MaxFiles {
		return code.Fault("there would be more than %d files", code.MaxFiles)
	}
	var total int64
	names := map[place]*name{}
	for path, e := range files {
		if total += e.size; total > maxTree {
			return code.Fault("the files would be larger than %d MiB together", maxTree>>20)
		}
		at := 0 // the folder we are in; 0 is the top
		for rest, more := path, true; more; {
			var part string
			part, rest, more = strings.Cut(rest, "/")
			n := names[place{at, code.Fold(part)}]
			switch {
			case n == nil:
				n = &name{spelled: part, number: len(names) + 1, file: !more}
				names[place{at, code.Fold(part)}] = n
			case n.spelled != part:
				return code.Fault("%s is there in another spelling, which not every file system tells apart", path)
			case n.file || !more:
				return code.Fault("%s would be a file and a folder", part)
			}
			at = n.number
		}
	}
	return nil
}

// place is a name, folded, in a numbered folder.
type place struct {
	folder int
	folded string
}

// name is a file or a folder of a tree.
type name struct {
	spelled string
	number  int
	file    bool
}
