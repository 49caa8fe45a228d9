package contents

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"

	"atelier/actors/files"
)

const (
	bufferBytes = 128 << 10
	// spaceEvery is the number of bytes written between two checks of the free space.
	spaceEvery = 8 << 20
)

var buffers = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// Put implements files.Blobs.
func (s *folder) Put(r io.Reader, limit int64) (*files.Lease, error) {
	f, err := s.create()
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	size, err := s.fill(f, sum, r, limit)
	if err == nil {
		// Sync before the rename, because a file with the final name must always be complete.
		err = s.sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("put blob: %w", err), os.Remove(f.Name()))
	}
	return s.keep(f.Name(), files.Sum(sum.Sum(nil)), size)
}

// Spool implements files.Blobs.
func (s *folder) Spool(r io.Reader, limit int64) (*os.File, int64, error) {
	f, err := s.create()
	if err != nil {
		return nil, 0, err
	}
	err = os.Remove(f.Name())
	var size int64
	if err == nil {
		size, err = s.fill(f, nil, r, limit)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("spool: %w", err), f.Close())
	}
	return f, size, nil
}

func (s *folder) create() (*os.File, error) {
	if err := s.room(); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.temp(), "put-*")
	if err != nil {
		return nil, fmt.Errorf("put blob: %w", err)
	}
	return f, nil
}

// fill copies r into f, and into sum unless sum is nil.
func (s *folder) fill(f *os.File, sum hash.Hash, r io.Reader, limit int64) (size int64, err error) {
	pooled := buffers.Get().(*[bufferBytes]byte)
	defer buffers.Put(pooled)
	buf := pooled[:]
	for nextCheck := int64(spaceEvery); ; {
		n, err := r.Read(buf)
		if size += int64(n); size > limit {
			return size, fmt.Errorf("%w of %d bytes", files.ErrTooLarge, limit)
		}
		if size >= nextCheck {
			if err := s.room(); err != nil {
				return size, err
			}
			nextCheck += spaceEvery
		}
		if _, err := f.Write(buf[:n]); err != nil {
			return size, err
		}
		if sum != nil {
			sum.Write(buf[:n])
		}
		if err == io.EOF {
			return size, nil
		}
		if err != nil {
			return size, fmt.Errorf("%w: %w", files.ErrSource, err)
		}
	}
}

// keep moves a synced file into place and returns a lease on the object. If the object already
// exists undamaged, keep renews its age and removes the file instead.
func (s *folder) keep(temp string, sum files.Sum, size int64) (*files.Lease, error) {
	lock := s.lock(sum)
	lock.Lock()
	defer lock.Unlock()
	path := s.path(sum)
	dir := filepath.Dir(path)
	var err error
	if s.hasSound(sum) {
		now := s.opts.Now()
		err = errors.Join(os.Chtimes(path, now, now), os.Remove(temp))
	} else { // the object is missing, or damaged and replaced by the new content
		err = s.place(temp, path)
	}
	if err == nil {
		// This sync is needed even if the object already existed. The process that created the
		// object may have crashed before this step.
		err = s.syncFolder(dir)
	}
	if err != nil {
		_ = os.Remove(temp)
		return nil, fmt.Errorf("keep blob %s: %w", sum, err)
	}
	return s.lease(sum, size), nil
}

func (s *folder) place(temp, path string) error {
	now := s.opts.Now()
	if err := os.Chtimes(temp, now, now); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.Mkdir(dir, 0o700); err == nil {
		if err := s.syncFolder(filepath.Dir(dir)); err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Rename(temp, path)
}

func (s *folder) lock(sum files.Sum) *sync.Mutex { return &s.locks[sum[0]%stripes] }

func (s *folder) lease(sum files.Sum, size int64) *files.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases[sum]++
	return files.NewLease(sum, size, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.leases[sum]--; s.leases[sum] == 0 {
			delete(s.leases, sum)
		}
	})
}

func (s *folder) leased(sum files.Sum) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases[sum] > 0
}
