package contents

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/ondisk"
)

// A disk can return different bytes than were written. Each object is therefore verified against
// its sum when it is opened, which costs 0.6 ms per MiB. With ten thousand readers of a popular
// file, each of them would read the file twice. A verified object therefore counts as undamaged for
// soundFor, as long as the file system reports no change.
const (
	soundFor = time.Minute
	maxSound = 4096
)

// identity is the metadata of a file that every write changes.
type identity struct {
	inode          uint64
	size           int64
	written, moved int64 // times of the last change of the content, and of the file or its metadata
}

func identityOf(info fs.FileInfo) identity {
	id := identity{size: info.Size(), written: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id.inode, id.moved = st.Ino, ondisk.Changed(st)
	}
	return id
}

// sound caches the results of verification.
type sound struct {
	mu sync.Mutex
	at map[files.Sum]verified // guarded by mu; at most maxSound
}

type verified struct {
	identity
	until time.Time
}

func (s *sound) has(sum files.Sum, id identity, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.at[sum]
	return ok && v.identity == id && now.Before(v.until)
}

func (s *sound) add(sum files.Sum, id identity, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.at) >= maxSound {
		clear(s.at) // clearing all entries is cheaper than keeping them in order
	}
	s.at[sum] = verified{id, now.Add(soundFor)}
}

// verify compares an open file with its hash, and rewinds the file. With fresh, it ignores the
// cache.
func (s *folder) verify(f *os.File, sum files.Sum, fresh bool) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	id, now := identityOf(info), s.opts.Now()
	if !fresh && s.sound.has(sum, id, now) {
		return id.size, nil
	}
	pooled := buffers.Get().(*[bufferBytes]byte)
	defer buffers.Put(pooled)
	hash := sha256.New()
	// Hide the file's WriterTo, with which CopyBuffer would not use the buffer.
	if _, err := io.CopyBuffer(hash, struct{ io.Reader }{f}, pooled[:]); err != nil {
		return 0, err
	}
	if files.Sum(hash.Sum(nil)) != sum {
		s.opts.Damaged()
		s.opts.Logger.Error("a stored file is damaged", "blob", sum.String())
		return 0, fmt.Errorf("%w: stored file %s does not match its hash", durable.ErrCorrupt, sum)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	s.sound.add(sum, id, now)
	return id.size, nil
}

// hasSound reports whether the object with this sum exists and is undamaged.
func (s *folder) hasSound(sum files.Sum) bool {
	f, err := os.Open(s.path(sum))
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = s.verify(f, sum, false)
	return err == nil
}

func (s *folder) Scrub(damaged func(what string)) (looked int, err error) {
	err = s.each(func(sum files.Sum) error {
		f, err := os.Open(s.path(sum))
		if errors.Is(err, fs.ErrNotExist) {
			return nil // discarded meanwhile
		}
		if err == nil {
			looked++
			_, err = s.verify(f, sum, true)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			damaged("blob " + sum.String())
		}
		return nil
	})
	return looked, err
}
