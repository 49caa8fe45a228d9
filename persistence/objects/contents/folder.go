package contents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/objects"
)

// stripes is the number of locks that protect the objects.
const stripes = 64

// folder stores objects on the node's disk. Only one process can use it at any time.
type folder struct {
	opts Options

	locks [stripes]sync.Mutex // by the first byte of the sum

	// removing is held while an object is removed. It is acquired before the object's lock.
	removing sync.Mutex
	holds    objects.Holds[removal]

	mu     sync.Mutex
	leases map[files.Sum]int // guarded by mu

	sound sound
}

// openFolder opens or creates the folder o.Dir, and removes incomplete files left by a crash.
func openFolder(o Options) (*folder, error) {
	s := &folder{opts: o, leases: map[files.Sum]int{}, sound: sound{at: map[files.Sum]verified{}}}
	for _, dir := range []string{s.temp(), s.objects(), s.aside()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open contents: %w", err)
		}
	}
	left, err := os.ReadDir(s.temp())
	if err != nil {
		return nil, fmt.Errorf("open contents: %w", err)
	}
	for _, e := range left {
		if err := os.RemoveAll(filepath.Join(s.temp(), e.Name())); err != nil {
			return nil, fmt.Errorf("clear contents: %w", err)
		}
	}
	if err := errors.Join(s.syncFolder(o.Dir), s.syncFolder(filepath.Dir(o.Dir))); err != nil {
		return nil, fmt.Errorf("open contents: %w", err)
	}
	return s, nil
}

func (s *folder) temp() string    { return filepath.Join(s.opts.Dir, "tmp") }
func (s *folder) objects() string { return filepath.Join(s.opts.Dir, "objects") }
func (s *folder) aside() string   { return filepath.Join(s.opts.Dir, "aside") }

func (s *folder) path(sum files.Sum) string {
	name := sum.String()
	return filepath.Join(s.objects(), name[:2], name)
}

// Open implements files.Blobs.
func (s *folder) Open(sum files.Sum) (files.Content, int64, error) {
	f, size, err := s.open(sum)
	if err != nil {
		return nil, 0, err // without the file, because a nil *os.File would be a non-nil interface
	}
	return f, size, nil
}

// open opens the file of an object and verifies it. It restores an object that is in quarantine.
func (s *folder) open(sum files.Sum) (*os.File, int64, error) {
	f, err := os.Open(s.path(sum))
	if errors.Is(err, fs.ErrNotExist) && s.bringBack(sum) {
		f, err = os.Open(s.path(sum))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("%w: blob %s", files.ErrMissing, sum)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open blob: %w", err)
	}
	size, err := s.verify(f, sum, false)
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open blob: %w", err), f.Close())
	}
	return f, size, nil
}

// room returns an error if the disk is nearly full.
func (s *folder) room() error {
	free, err := s.opts.FreeBytes()
	if err != nil {
		return fmt.Errorf("measure free space: %w", err)
	}
	if free < s.opts.MinFreeBytes {
		return fmt.Errorf("%w: %d bytes free, %d required", durable.ErrReadOnly, free, s.opts.MinFreeBytes)
	}
	return nil
}

// syncFolder makes the file names in a folder durable.
func (s *folder) syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(s.sync(d), d.Close())
}

func (s *folder) sync(f *os.File) error {
	err := f.Sync()
	if err == nil {
		s.opts.Synced(f.Name())
	}
	return err
}
