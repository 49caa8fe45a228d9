package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/ondisk"
)

// Options of a Store. Dir is required.
type Options struct {
	Dir string
	// Grace is how long Collect spares an object. Default 24 h.
	Grace time.Duration
	// MinFreeBytes is the free space below which nothing is written. Default
	// 1 GiB.
	MinFreeBytes uint64
	// FreeBytes measures the free space. Default: statfs of Dir.
	FreeBytes func() (uint64, error)
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Damaged is called for each content that is found not to be what was put.
	// Default: nothing is called.
	Damaged func()
	// Logger receives what an operator acts on. Default: nothing is logged.
	Logger *slog.Logger
	// Synced is told the path of each file and folder after it was synced, for
	// tests of the order. Default: nobody is.
	Synced func(path string)
}

// stripes is the number of locks over the objects.
const stripes = 64

// Store keeps contents in a folder. One process at a time may use it.
type Store struct {
	opts Options

	locks [stripes]sync.Mutex // by the first byte of the sum

	// removing is held while an object is removed, before its lock above.
	removing sync.Mutex
	holds    int // guarded by removing; backups under way

	mu     sync.Mutex
	leases map[files.Sum]int // guarded by mu

	sound sound
}

var _ files.Blobs = (*Store)(nil)

// Open opens the store in o.Dir, or creates it, and removes what a crash left
// half written.
func Open(o Options) (*Store, error) {
	if o.Grace == 0 {
		o.Grace = 24 * time.Hour
	}
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = 1 << 30
	}
	if o.FreeBytes == nil {
		o.FreeBytes = func() (uint64, error) { return ondisk.FreeBytes(o.Dir) }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Damaged == nil {
		o.Damaged = func() {}
	}
	if o.Synced == nil {
		o.Synced = func(string) {}
	}
	s := &Store{opts: o, leases: map[files.Sum]int{}, sound: sound{at: map[files.Sum]verified{}}}
	for _, dir := range []string{s.temp(), s.objects(), s.aside()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open blobs: %w", err)
		}
	}
	left, err := os.ReadDir(s.temp())
	if err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	for _, e := range left {
		if err := os.RemoveAll(filepath.Join(s.temp(), e.Name())); err != nil {
			return nil, fmt.Errorf("clear blobs: %w", err)
		}
	}
	if err := errors.Join(s.syncFolder(o.Dir), s.syncFolder(filepath.Dir(o.Dir))); err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	return s, nil
}

func (s *Store) temp() string    { return filepath.Join(s.opts.Dir, "tmp") }
func (s *Store) objects() string { return filepath.Join(s.opts.Dir, "objects") }
func (s *Store) aside() string   { return filepath.Join(s.opts.Dir, "aside") }

func (s *Store) path(sum files.Sum) string {
	name := sum.String()
	return filepath.Join(s.objects(), name[:2], name)
}

// Open implements files.Blobs.
func (s *Store) Open(sum files.Sum) (*os.File, int64, error) {
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

// room refuses to write while the disk is nearly full.
func (s *Store) room() error {
	free, err := s.opts.FreeBytes()
	if err != nil {
		return fmt.Errorf("measure free space: %w", err)
	}
	if free < s.opts.MinFreeBytes {
		return fmt.Errorf("%w: %d bytes free, %d wanted", durable.ErrReadOnly, free, s.opts.MinFreeBytes)
	}
	return nil
}

// syncFolder makes the names in a folder last.
func (s *Store) syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(s.sync(d), d.Close())
}

func (s *Store) sync(f *os.File) error {
	err := f.Sync()
	if err == nil {
		s.opts.Synced(f.Name())
	}
	return err
}
