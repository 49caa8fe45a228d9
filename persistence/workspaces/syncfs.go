package workspaces

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
)

// syncFS is the file system that go-git writes to. What it has written is on
// disk when the file is closed, and under its last name when the rename
// returns: go-git itself syncs nothing.
type syncFS struct {
	billy.Filesystem
	dir    string
	syncer syncer
}

func newSyncFS(dir string, syncer syncer) billy.Filesystem {
	return &syncFS{osfs.New(dir, osfs.WithBoundOS()), dir, syncer}
}

type syncFile struct {
	billy.File
	fs *syncFS
}

func (f *syncFile) Close() error {
	s, ok := f.File.(interface{ Sync() error })
	if !ok {
		return errors.Join(errors.ErrUnsupported, f.File.Close())
	}
	err := s.Sync()
	if err == nil {
		f.fs.syncer.tell(f.fs.path(f.Name()))
	}
	return errors.Join(err, f.File.Close())
}

func (s *syncFS) synced(f billy.File, err error) (billy.File, error) {
	if err != nil {
		return nil, err
	}
	return &syncFile{f, s}, nil
}

// path is where a file lies.
func (s *syncFS) path(name string) string {
	if strings.HasPrefix(name, s.dir) {
		return name
	}
	return filepath.Join(s.dir, name)
}

// Create is for writing.
func (s *syncFS) Create(name string) (billy.File, error) { return s.synced(s.Filesystem.Create(name)) }

// OpenFile may be for writing.
func (s *syncFS) OpenFile(name string, flag int, perm os.FileMode) (billy.File, error) {
	f, err := s.Filesystem.OpenFile(name, flag, perm)
	if err != nil || flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return f, err
	}
	f, err = s.synced(f, err)
	if flag&os.O_CREATE != 0 && err == nil {
		err = s.syncNames(name)
	}
	return f, err
}

// TempFile is for writing.
func (s *syncFS) TempFile(dir, prefix string) (billy.File, error) {
	return s.synced(s.Filesystem.TempFile(dir, prefix))
}

// Rename makes the new name last.
func (s *syncFS) Rename(from, to string) error {
	if err := s.Filesystem.Rename(from, to); err != nil {
		return err
	}
	return s.syncNames(to)
}

// syncNames syncs the folder of a file, and its folder, which may be new too.
func (s *syncFS) syncNames(name string) error {
	dir := filepath.Dir(s.path(name))
	return errors.Join(s.syncer.sync(dir), s.syncer.sync(filepath.Dir(dir)))
}
