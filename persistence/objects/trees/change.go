package trees

import (
	"maps"
	"slices"
	"strings"

	"atelier/actors/code"
)

// These are the maximum sizes of a file, a tree, and a workspace with its history, in bytes.
const (
	maxFile      = code.MaxFile
	maxTree      = code.MaxTree
	maxWorkspace = 512 << 20
)

// entry is a file of a tree.
type entry struct {
	Size    int64
	Ref     string // see manifest.entries; "" for new content
	Content []byte
	Mode    code.Mode // KeptMode has the same meaning as Regular here
	Sum     string    // hash of a stored content; "" if unknown
}

// apply returns the files of a tree after a change. The error can be a *code.Problem or
// code.ErrNotFound.
func apply(before map[string]entry, c code.Change) (map[string]entry, error) {
	after := maps.Clone(before)
	if after == nil {
		after = map[string]entry{}
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
	kept := after
	if c.Replace {
		after = make(map[string]entry, len(c.Write))
	}
	written := map[string]bool{}
	for _, f := range c.Write {
		if err := checkWritten(f.Path, before); err != nil {
			return nil, err
		}
		if written[f.Path] {
			return nil, code.Fault("%s occurs twice in the change", f.Path)
		}
		if len(f.Content) > maxFile {
			return nil, code.Fault("%s is larger than %d MiB", f.Path, maxFile>>20)
		}
		written[f.Path] = true
		mode := f.Mode
		if mode == code.KeptMode {
			mode = kept[f.Path].Mode
		}
		after[f.Path] = entry{Size: int64(len(f.Content)), Content: f.Content, Mode: mode}
	}
	return after, check(after)
}

// checkWritten checks the path of a written file. An existing file keeps its path even if the path
// would be invalid for a new file.
func checkWritten(path string, before map[string]entry) error {
	if _, there := before[path]; there {
		return code.CheckPath(path)
	}
	return code.CheckNewPath(path)
}

// check checks a whole tree.
func check(files map[string]entry) error {
	if len(files) > code.MaxFiles {
		return code.Fault("there would be more than %d files", code.MaxFiles)
	}
	var total int64
	names := map[place]*name{}
	for path, e := range files {
		if total += e.Size; total > maxTree {
			return code.Fault("the files would be larger than %d MiB together", maxTree>>20)
		}
		at := 0 // the current folder; 0 is the top
		for rest, more := path, true; more; {
			var part string
			part, rest, more = strings.Cut(rest, "/")
			n := names[place{at, code.Fold(part)}]
			switch {
			case n == nil:
				n = &name{spelled: part, number: len(names) + 1, file: !more}
				names[place{at, code.Fold(part)}] = n
			case n.spelled != part:
				return code.Fault("%s exists in another spelling, and some file systems do not distinguish the two", path)
			case n.file || !more:
				return code.Fault("%s would be both a file and a folder", part)
			}
			at = n.number
		}
	}
	return nil
}

// place identifies a name in a numbered folder. The name is case-folded.
type place struct {
	folder int
	folded string
}

// name is the name of a file or folder in a tree.
type name struct {
	spelled string
	number  int
	file    bool
}

// Info describes an entry's file. The caller sets Binary.
func (e entry) Info(path string) code.Info {
	return code.Info{Path: path, Mode: max(e.Mode, code.Regular), Size: e.Size}
}

// sorted returns the sorted paths of files, never nil.
func sorted(files map[string]entry) []string {
	out := slices.Sorted(maps.Keys(files))
	if out == nil {
		out = []string{}
	}
	return out
}
