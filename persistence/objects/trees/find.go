package trees

import (
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"atelier/actors/code"
)

// finder searches for objects in the history of commits. It reads no more of the history than
// necessary.
type finder struct {
	h     *history
	todo  []string // commits not read yet
	seen  map[string]bool
	trees map[string]subtree
}

// subtree is a folder of a commit: the files below a path, which is empty or ends with a slash.
type subtree struct {
	m  *manifest
	at string
}

// from adds commits, and their history, to the search.
func (f *finder) from(commits []string) {
	for _, c := range commits {
		if !f.seen[c] {
			f.seen[c] = true
			f.todo = append(f.todo, c)
		}
	}
}

// further reads one more commit. It returns false if no commit is left.
func (f *finder) further() (bool, error) {
	if len(f.todo) == 0 {
		return false, nil
	}
	name := f.todo[0]
	f.todo = f.todo[1:]
	m, err := f.h.manifest(name)
	if err != nil {
		return false, err
	}
	c, err := m.commit()
	if err != nil {
		return false, err
	}
	for _, p := range c.ParentHashes {
		f.from([]string{p.String()})
	}
	_, err = folderOf(m.entries()).writeAt("", hashOnly, func(at string, h plumbing.Hash) {
		if _, known := f.trees[h.String()]; !known {
			f.trees[h.String()] = subtree{m, at}
		}
	})
	return true, err
}

// tree returns the folder with a given hash.
func (f *finder) tree(name string) (t subtree, ok bool, err error) {
	for {
		if t, ok = f.trees[name]; ok {
			return t, true, nil
		}
		if more, err := f.further(); err != nil || !more {
			return t, false, err
		}
	}
}

// blob returns the location of a blob.
func (f *finder) blob(name string) (b located, ok bool, err error) {
	for {
		if b, ok = f.h.blobs[name]; ok {
			return b, true, nil
		}
		if more, err := f.further(); err != nil || !more {
			return b, false, err
		}
	}
}

// below returns the files of a folder by path. The paths are relative to the folder.
func (t subtree) below() map[string]entry {
	out := map[string]entry{}
	for path, e := range t.m.entries() {
		if rest, ok := strings.CutPrefix(path, t.at); ok {
			out[rest] = e
		}
	}
	return out
}

// content returns the folder as a Git tree object.
func (t subtree) content() (content []byte, err error) {
	_, err = writeTrees(func(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) (h plumbing.Hash, err error) {
		h, content, err = encoded(kind, encode) // the top folder is written last
		return h, err
	}, t.below())
	return content, err
}

// Find implements code.Repository.
func (h *history) Find(name string, commits []string) (o code.Object, ok bool, err error) {
	if !treeForm[code.Git].MatchString(name) {
		return o, false, nil
	}
	if h.find == nil {
		h.find = &finder{h: h, seen: map[string]bool{}, trees: map[string]subtree{}}
	}
	f := h.find
	f.from(commits)
	if b, ok := h.blobs[name]; ok {
		content, err := h.sp.read(h.ctx, b.m, b.f)
		return code.Object{Kind: code.BlobObject, Name: name, Content: content}, err == nil, err
	}
	// Most requested trees are in the current commits.
	t, ok, err := f.tree(name)
	if err != nil {
		return o, false, err
	}
	if ok {
		content, err := t.content()
		return code.Object{Kind: code.TreeObject, Name: name, Content: content}, err == nil, err
	}
	// Now the whole history has been read.
	if b, ok := h.blobs[name]; ok {
		content, err := h.sp.read(h.ctx, b.m, b.f)
		return code.Object{Kind: code.BlobObject, Name: name, Content: content}, err == nil, err
	}
	if !f.seen[name] {
		return o, false, nil
	}
	m, err := h.manifest(name)
	if errors.Is(err, code.ErrNotFound) {
		return o, false, nil
	}
	if err != nil {
		return o, false, err
	}
	return code.Object{Kind: code.CommitObject, Name: name, Content: m.Commit}, true, nil
}
