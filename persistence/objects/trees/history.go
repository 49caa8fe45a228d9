package trees

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// history reads the objects of a repository.
type history struct {
	ctx   context.Context
	sp    *spool
	blobs map[string]located // by hash
	find  *finder            // nil until the first search
}

type located struct {
	m *manifest
	f *file
}

func (h *history) manifest(name string) (*manifest, error) {
	m, err := h.sp.manifest(h.ctx, name)
	if err != nil {
		return nil, err
	}
	for i := range m.Files {
		h.blobs[m.Files[i].Git] = located{m, &m.Files[i]}
	}
	return m, nil
}

// commit returns a commit, or code.ErrNotFound.
func (h *history) commit(name string) (*object.Commit, error) {
	m, err := h.manifest(name)
	if err != nil {
		return nil, err
	}
	return m.commit()
}

// entries returns the files of a commit, with their hashes as Ref.
func (h *history) entries(commit string) (map[string]entry, error) {
	m, err := h.manifest(commit)
	if err != nil {
		return nil, err
	}
	return m.entries(), nil
}

// blob returns the verified content of a file.
func (h *history) blob(hash plumbing.Hash) ([]byte, error) {
	b, known := h.blobs[hash.String()]
	if !known {
		return nil, damaged("the blob %s does not exist", hash)
	}
	return h.sp.read(h.ctx, b.m, b.f)
}

// objects calls fn with the objects that the commits in tips need, sorted by name, in Git's storage
// format.
func (h *history) objects(tips []plumbing.Hash, fn func(name string, content []byte) error) error {
	type gitObject struct {
		kind    plumbing.ObjectType
		content []byte
	}
	found := map[string]gitObject{} // without the contents of blobs
	for todo := slices.Clone(tips); len(todo) > 0; {
		name := todo[len(todo)-1].String()
		todo = todo[:len(todo)-1]
		if _, seen := found[name]; seen {
			continue
		}
		m, err := h.manifest(name)
		if err != nil {
			return err
		}
		c, err := m.commit()
		if err != nil {
			return err
		}
		found[name] = gitObject{plumbing.CommitObject, m.Commit}
		todo = append(todo, c.ParentHashes...)
		_, err = writeTrees(func(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
			hash, content, err := encoded(kind, encode)
			found[hash.String()] = gitObject{kind, content}
			return hash, err
		}, m.entries())
		if err != nil {
			return err
		}
		for _, f := range m.Files {
			found[f.Git] = gitObject{plumbing.BlobObject, nil}
		}
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		o := found[name]
		if o.kind == plumbing.BlobObject {
			var err error
			if o.content, err = h.blob(plumbing.NewHash(name)); err != nil {
				return err
			}
		}
		content, err := loose(o.kind, o.content)
		if err == nil {
			err = fn(name, content)
		}
		if err != nil {
			return fmt.Errorf("write object %s: %w", name, err)
		}
	}
	return nil
}

// loose returns a Git object in Git's storage format.
func loose(kind plumbing.ObjectType, content []byte) ([]byte, error) {
	var b bytes.Buffer
	w := objfile.NewWriter(&b)
	err := w.WriteHeader(kind, int64(len(content)))
	if err == nil {
		_, err = w.Write(content)
	}
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}
