package trees

import (
	"context"
	"os"

	"github.com/go-git/go-git/v5/plumbing"

	"atelier/actors/code"
)

// Commit implements code.Store.
func (s *Store) Commit(id, tree string) ([]byte, error) {
	key := treeKey(id, tree)
	s.mu.Lock()
	known := s.commits[key]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	m, err := s.load(context.Background(), id, code.Git, tree)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.commits[key]; known != nil { // a concurrent call has loaded it
		return known, nil
	}
	if s.commitBytes += len(m.Commit); s.commitBytes > maxCommitBytes {
		clear(s.commits) // clearing all entries is cheaper than keeping them in order
		s.commitBytes = len(m.Commit)
	}
	s.commits[key] = m.Commit
	return m.Commit, nil
}

// Repository implements code.Store.
func (s *Store) Repository(id string) (code.Repository, error) {
	ctx := context.Background()
	if err := s.known(ctx, id, code.Git); err != nil {
		return nil, err
	}
	sp, err := s.spool(id, code.Git)
	if err != nil {
		return nil, err
	}
	return &history{ctx: ctx, sp: sp, blobs: map[string]located{}}, nil
}

// Scratch implements code.Store.
func (s *Store) Scratch() (*os.File, error) { return s.nameless() }

// Files implements code.Repository.
func (h *history) Files(commit string, fn func(code.Object) error) error {
	m, err := h.manifest(commit)
	if err != nil {
		return err
	}
	_, err = writeTrees(func(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
		hash, content, err := encoded(kind, encode)
		if err == nil {
			err = fn(code.Object{Kind: code.TreeObject, Name: hash.String(), Content: content})
		}
		return hash, err
	}, m.entries())
	if err != nil {
		return err
	}
	sent := map[string]bool{}
	for _, f := range m.Files {
		if sent[f.Git] {
			continue
		}
		sent[f.Git] = true
		if err := fn(code.Object{Kind: code.BlobObject, Name: f.Git}); err != nil {
			return err
		}
	}
	return nil
}

// Blob implements code.Repository.
func (h *history) Blob(name string) ([]byte, error) { return h.blob(plumbing.NewHash(name)) }

// Close implements code.Repository.
func (h *history) Close() error { return h.sp.f.Close() }
