package trees

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"atelier/actors/code"
)

// authorMail is the author's e-mail address in every commit, because people have no addresses here.
const authorMail = "facilitator@atelier.invalid"

// put handles an encoded Git object, for example by storing it, and returns the object's hash.
type put func(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) (plumbing.Hash, error)

// writeCommit stores the new files of a commit, its trees and the commit itself. New files have no
// Ref; the Ref of any other file is the hash of its blob. If the commit would change nothing,
// writeCommit returns the hash of its parent. parent is nil for a first commit.
func writeCommit(put put, parent *object.Commit, files map[string]entry, c code.Change) (plumbing.Hash, error) {
	top := &folder{}
	for path, e := range files {
		h := plumbing.NewHash(e.Ref)
		if e.Ref == "" {
			var err error
			h, err = put(plumbing.BlobObject, func(o plumbing.EncodedObject) error {
				w, err := o.Writer()
				if err != nil {
					return err
				}
				_, err = w.Write(e.Content)
				return errors.Join(err, w.Close())
			})
			if err != nil {
				return h, fmt.Errorf("write blob: %w", err)
			}
		}
		top.add(strings.Split(path, "/"), blob{h, e.Mode})
	}
	tree, err := top.write(put)
	if err != nil {
		return tree, fmt.Errorf("write tree: %w", err)
	}
	who := object.Signature{Name: oneLine(c.Author, "Facilitator"), Email: authorMail, When: c.At.UTC()}
	commit := &object.Commit{Author: who, Committer: who, Message: c.Message, TreeHash: tree}
	if parent != nil {
		if parent.TreeHash == tree {
			return parent.Hash, nil
		}
		commit.ParentHashes = []plumbing.Hash{parent.Hash}
	}
	h, err := put(plumbing.CommitObject, commit.Encode)
	if err != nil {
		return h, fmt.Errorf("write commit: %w", err)
	}
	return h, nil
}

// writeTrees stores the Git trees of files, and returns the hash of the top tree. The Ref of each
// file is the hash of its blob.
func writeTrees(put put, files map[string]entry) (plumbing.Hash, error) {
	return folderOf(files).write(put)
}

// folderOf returns the top-level folder of files.
func folderOf(files map[string]entry) *folder {
	top := &folder{}
	for path, e := range files {
		top.add(strings.Split(path, "/"), blob{plumbing.NewHash(e.Ref), e.Mode})
	}
	return top
}

// gitMode returns a mode in Git's representation.
func gitMode(m code.Mode) filemode.FileMode {
	if m == code.Executable {
		return filemode.Executable
	}
	return filemode.Regular
}

// blob is a file of a folder.
type blob struct {
	hash plumbing.Hash
	mode code.Mode
}

// folder is a folder of a tree being built.
type folder struct {
	files   map[string]blob
	folders map[string]*folder
}

func (f *folder) add(path []string, b blob) {
	if len(path) == 1 {
		if f.files == nil {
			f.files = map[string]blob{}
		}
		f.files[path[0]] = b
		return
	}
	if f.folders == nil {
		f.folders = map[string]*folder{}
	}
	sub := f.folders[path[0]]
	if sub == nil {
		sub = &folder{}
		f.folders[path[0]] = sub
	}
	sub.add(path[1:], b)
}

func (f *folder) write(put put) (plumbing.Hash, error) { return f.writeAt("", put, nil) }

// writeAt writes the folder at the path at, which is empty or ends with a slash. It calls
// onWritten, unless it is nil, with the hash of each written folder.
func (f *folder) writeAt(at string, put put, onWritten func(at string, h plumbing.Hash)) (plumbing.Hash, error) {
	t := &object.Tree{}
	for name, b := range f.files {
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: gitMode(b.mode), Hash: b.hash})
	}
	for name, sub := range f.folders {
		h, err := sub.writeAt(at+name+"/", put, onWritten)
		if err != nil {
			return h, err
		}
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: h})
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	h, err := put(plumbing.TreeObject, t.Encode)
	if err == nil && onWritten != nil {
		onWritten(at, h)
	}
	return h, err
}

// oneLine removes characters from a name that would break the format of a commit.
func oneLine(s, fallback string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s))
	if s == "" {
		return fallback
	}
	return s
}
