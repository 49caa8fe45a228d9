package workspaces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"atelier/actors/code"
	"atelier/persistence/backup"
	"atelier/persistence/internal/tree"
)

// Save writes everything for a backup. What is written meanwhile may be in it
// or not; what was there is.
func (s *Store) Save(w io.Writer) error { return backup.SaveFolder(w, s.dir, asideFolder) }

// Pack writes a workspace as tar.gz: of a repository the files of the first
// head and the repository itself, of folders a folder for each head. The file
// it returns has no name any more and is read from its beginning; so nobody
// waits for a slow reader, and what cannot be read is known before the first
// byte is sent. The files are dated at, or when the last commit was made if
// that is later; never now, so that the same state is the same bytes each time
// and on each server that it is restored on. The caller holds RLock.
func (s *Store) Pack(id string, kind code.Kind, heads []code.Head, at time.Time) (_ io.ReadCloser, size int64, err error) {
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	defer func() { s.count(err) }()
	t, err := s.open(id, kind)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	f, err := os.CreateTemp(s.dir, tempPrefix+"pack-*")
	if err != nil {
		return nil, 0, fmt.Errorf("pack workspace: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if err := os.Remove(f.Name()); err != nil {
		return nil, 0, fmt.Errorf("pack workspace: %w", err)
	}
	p := tree.NewPacker(f, at)
	if err = t.pack(p, heads); err == nil {
		err = p.Close()
	}
	if err == nil {
		size, err = f.Seek(0, io.SeekEnd)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("pack workspace: %w", err)
	}
	return f, size, nil
}
