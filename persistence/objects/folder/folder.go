// Package folder stores objects in a folder, which several nodes can have mounted. Each object is a
// file, with its key as the path.
//
// Put writes a file in .tmp, verifies its sum, syncs and renames the file, and syncs the folder.
// The next node that opens the folder removes files in .tmp that are a day old by the clock of the
// file system. Younger files can belong to a running node.
package folder

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/objects"
	"atelier/persistence/ondisk"
)

const (
	tempFolder = ".tmp"
	// tempFor is the age above which no node can still be writing a temporary file.
	tempFor = 24 * time.Hour
	// spaceEvery is the number of bytes written between two checks of the free space.
	spaceEvery = 8 << 20
)

// Options configures a Store. A zero field selects its default; Dir is required.
type Options struct {
	Dir string
	// MinFreeBytes is the free space below which nothing is written. Default: 1 GiB.
	MinFreeBytes uint64
	// FreeBytes measures the free space. Default: statfs of Dir.
	FreeBytes func() (uint64, error)
	// Synced is called with the path of each file and folder below Dir after it was synced. Tests
	// use it to verify the order. Default: nil.
	Synced func(path string)
}

// Store is an objects.Store in a folder.
type Store struct {
	opts Options
	root *os.Root
}

var _ objects.Store = (*Store)(nil)

// Open opens the folder, which must exist. A folder that is not mounted also seems to be missing.
// If Open created it, this node's objects would be stored on its own disk, where the other nodes do
// not find them.
func Open(o Options) (*Store, error) {
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = 1 << 30
	}
	if o.FreeBytes == nil {
		o.FreeBytes = func() (uint64, error) { return ondisk.FreeBytes(o.Dir) }
	}
	if o.Synced == nil {
		o.Synced = func(string) {}
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open object folder: %w", err)
	}
	s := &Store{opts: o, root: root}
	if err := s.clearTemp(); err != nil {
		return nil, errors.Join(fmt.Errorf("open object folder: %w", err), root.Close())
	}
	return s, nil
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

func (s *Store) clearTemp() error {
	if err := s.root.Mkdir(tempFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// The time comes from a new file, because the file system's clock can differ from this
	// machine's.
	f, err := s.temp()
	if err != nil {
		return err
	}
	info, err := f.Stat()
	err = errors.Join(err, f.Close(), s.root.Remove(filepath.Join(tempFolder, filepath.Base(f.Name()))))
	if err != nil {
		return err
	}
	now := info.ModTime()
	left, err := fs.ReadDir(s.root.FS(), tempFolder)
	if err != nil {
		return err
	}
	for _, e := range left {
		info, err := e.Info()
		if err == nil && now.Sub(info.ModTime()) > tempFor {
			err = s.root.Remove(path.Join(tempFolder, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s *Store) temp() (*os.File, error) {
	return s.root.OpenFile(filepath.Join(tempFolder, objects.Random()+objects.Random()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// Put implements objects.Store.
func (s *Store) Put(ctx context.Context, key string, content io.ReaderAt, size int64, sum [32]byte) error {
	if err := objects.CheckKey(key); err != nil {
		return err
	}
	if err := s.room(); err != nil {
		return err
	}
	f, err := s.temp()
	if err != nil {
		return classify("put", key, err)
	}
	temp := filepath.Join(tempFolder, filepath.Base(f.Name()))
	err = s.fill(ctx, f, io.NewSectionReader(content, 0, size), size, sum)
	if err == nil {
		// Sync before the rename, because a file under its key must always be complete.
		if err = f.Sync(); err == nil {
			s.opts.Synced(temp)
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.name(filepath.FromSlash(key), func(to string) error { return s.root.Rename(temp, to) })
	}
	if err != nil {
		_ = s.root.Remove(temp)
		return classify("put", key, err)
	}
	return nil
}

func (s *Store) fill(ctx context.Context, f *os.File, r io.Reader, size int64, sum [32]byte) error {
	hash := sha256.New()
	var done int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(io.MultiWriter(f, hash), r, spaceEvery)
		done += n
		if err == nil {
			err = s.room()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if done != size || [32]byte(hash.Sum(nil)) != sum {
		return objects.ErrSum
	}
	return nil
}

// Link adds a second key for an object without copying its content. This is safe, because objects
// are never changed in place. Not every file system supports links.
func (s *Store) Link(from, to string) error {
	if err := errors.Join(objects.CheckKey(from), objects.CheckKey(to)); err != nil {
		return err
	}
	err := s.name(filepath.FromSlash(to), func(to string) error { return s.root.Link(filepath.FromSlash(from), to) })
	if err != nil {
		return classify("link", from, err)
	}
	return nil
}

// name lets place create a file at the path to, and then syncs the file's parent folders.
func (s *Store) name(to string, place func(to string) error) error {
	dir := filepath.Dir(to)
	var err error
	// Retry, because another node that removes the last file of a folder also removes the folder.
	for range 100 {
		if err = s.root.MkdirAll(dir, 0o700); err == nil {
			err = place(to)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	for ; err == nil; dir = filepath.Dir(dir) {
		err = s.syncFolder(dir)
		if dir == "." {
			return err
		}
	}
	return err
}

func (s *Store) syncFolder(dir string) error {
	d, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if err == nil {
		s.opts.Synced(dir)
	}
	return errors.Join(err, d.Close())
}

// room returns an error if the folder's disk is nearly full.
func (s *Store) room() error {
	free, err := s.opts.FreeBytes()
	if err != nil {
		return classify("measure", "the free space", err)
	}
	if free < s.opts.MinFreeBytes {
		return fmt.Errorf("%w: object folder: %d bytes free, %d required", durable.ErrReadOnly, free, s.opts.MinFreeBytes)
	}
	return nil
}

// Get implements objects.Store.
func (s *Store) Get(_ context.Context, key string, from, n int64) (io.ReadCloser, int64, error) {
	f, info, err := s.open(key)
	if err != nil {
		return nil, 0, err
	}
	size := info.Size() - from
	if from < 0 || size < 0 || size == 0 && from > 0 {
		return nil, 0, errors.Join(fmt.Errorf("%w: %s", objects.ErrRange, key), f.Close())
	}
	if n >= 0 {
		size = min(size, n)
	}
	return &part{io.NewSectionReader(f, from, size), f}, size, nil
}

// part is a section of a file. Closing it closes the file.
type part struct {
	io.Reader
	io.Closer
}

func (s *Store) open(key string) (*os.File, fs.FileInfo, error) {
	if err := objects.CheckKey(key); err != nil {
		return nil, nil, err
	}
	f, err := s.root.Open(filepath.FromSlash(key))
	if err != nil {
		return nil, nil, classify("get", key, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, errors.Join(classify("get", key, err), f.Close())
	}
	return f, info, nil
}

// Stat implements objects.Store.
func (s *Store) Stat(_ context.Context, key string) (objects.Info, error) {
	f, info, err := s.open(key)
	if err != nil {
		return objects.Info{}, err
	}
	return objects.Info{Key: key, Size: info.Size(), Changed: info.ModTime()}, f.Close()
}

// List implements objects.Store.
func (s *Store) List(ctx context.Context, prefix string, fn func(objects.Info) error) error {
	if err := objects.CheckPrefix(prefix); err != nil {
		return err
	}
	dir, _ := path.Split(prefix)
	return s.list(ctx, strings.TrimSuffix(dir, "/"), prefix, fn)
}

// list lists a folder and its subfolders in key order. To that end it compares the names of folders
// with a trailing slash.
func (s *Store) list(ctx context.Context, dir, prefix string, fn func(objects.Info) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), path.Join(".", dir))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return classify("list", prefix, err)
	}
	keys := make([]string, 0, len(entries))
	byKey := make(map[string]fs.DirEntry, len(entries))
	for _, e := range entries {
		key := path.Join(dir, e.Name())
		if e.IsDir() {
			key += "/"
		}
		keys = append(keys, key)
		byKey[key] = e
	}
	slices.Sort(keys)
	for _, key := range keys {
		e := byKey[key]
		if e.IsDir() {
			// Subfolders whose key has the prefix are listed recursively.
			if objects.CheckPrefix(key) == nil && strings.HasPrefix(key, prefix) {
				if err := s.list(ctx, strings.TrimSuffix(key, "/"), prefix, fn); err != nil {
					return err
				}
			}
			continue
		}
		if !strings.HasPrefix(key, prefix) || objects.CheckKey(key) != nil || !e.Type().IsRegular() {
			continue // not requested, or not a file of this store
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return classify("list", prefix, err)
		}
		if err := fn(objects.Info{Key: key, Size: info.Size(), Changed: info.ModTime()}); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements objects.Store.
func (s *Store) Delete(_ context.Context, key string) error {
	if err := objects.CheckKey(key); err != nil {
		return err
	}
	name := filepath.FromSlash(key)
	if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return classify("delete", key, err)
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if s.root.Remove(dir) != nil {
			break // not empty
		}
	}
	return nil
}

// classify converts a file system error to an error of package objects or durable. A missing file
// becomes ErrNotFound. I/O errors and a lost mount become ErrUnavailable, and a full or read-only
// disk becomes ErrReadOnly. Other errors keep their kind.
func classify(what, key string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %s %s", objects.ErrNotFound, what, key)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %s %s: %w", durable.ErrReadOnly, what, key, err)
	case errors.Is(err, syscall.ESTALE), errors.Is(err, syscall.EIO), errors.Is(err, syscall.ETIMEDOUT), errors.Is(err, syscall.EHOSTDOWN), errors.Is(err, syscall.ENOTCONN):
		return fmt.Errorf("%w: %s %s: %w", durable.ErrUnavailable, what, key, err)
	}
	return fmt.Errorf("object folder: %s %s: %w", what, key, err)
}
