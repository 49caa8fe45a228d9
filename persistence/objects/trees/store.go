package trees

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"os"
	"path"
	"sync"
	"time"

	"atelier/actors/code"
	"atelier/actors/durable"
	"atelier/persistence/objects"
)

const (
	prefix = "workspaces/"
	// beginning is the number of bytes of an object that are read first, to get its manifest. Most
	// manifests are shorter.
	beginning = 64 << 10
	// maxRemembered bounds the number of workspaces in sizes, and in made. maxFiles bounds the
	// number of files in all cached manifests, plus 10 for each manifest.
	maxRemembered = 4096
	maxFiles      = 100_000
	// maxCommitBytes bounds the size of the cached commits.
	maxCommitBytes = 8 << 20
	// maxPacking is the maximum number of workspaces packed, copied or pushed to concurrently.
	maxPacking = 4
	lockShards = 256
	// leastGrace is the minimum grace period. It is long enough for the writer of a tree to record
	// the tree.
	leastGrace = time.Hour
)

// Options configures a Store. Objects and Dir are required.
type Options struct {
	Objects objects.Store
	// Dir is the node's own folder for unnamed files. It is created if missing.
	Dir string
	// Gate returns an error while nothing can be written, and nil otherwise.
	Gate func() error
	// Damaged is called each time a damaged or missing workspace, tree or file is found.
	Damaged func()
	// Grace is the grace period of unreferenced objects. Default 24 h, at least 1 h.
	Grace time.Duration
	// Alone means that no other process uses the objects. Publish then immediately removes the
	// trees that no head needs.
	Alone  bool
	Logger *slog.Logger
}

// Store is a code.Store in an object store. Safe for concurrent use.
type Store struct {
	opts  Options
	clock *objects.Clock
	busy  chan struct{} // semaphore for packing, copying and receiving

	seed  maphash.Seed
	locks [lockShards]sync.RWMutex

	// holds postpones the removal of workspaces. It is used only if the store is not shared.
	holds objects.Holds[string]

	mu sync.Mutex
	// Guarded by mu.
	sizes     map[string]int64
	made      map[string]code.Kind
	manifests map[string]*manifest // by key of the tree
	files     int                  // number of files in all cached manifests, plus 10 for each manifest
	// commits caches commits, which are small and requested repeatedly, by the same keys as
	// manifests.
	commits     map[string][]byte
	commitBytes int
}

var _ code.Store = (*Store)(nil)

// Open opens the store.
func Open(o Options) (*Store, error) {
	o.Grace = max(cmp.Or(o.Grace, 24*time.Hour), leastGrace)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Gate == nil {
		o.Gate = func() error { return nil }
	}
	if o.Damaged == nil {
		o.Damaged = func() {}
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open trees: %w", err)
	}
	clock := objects.NewClock(o.Objects)
	if o.Alone {
		clock = objects.OwnClock()
	}
	return &Store{
		opts: o, clock: clock, busy: make(chan struct{}, maxPacking), seed: maphash.MakeSeed(),
		sizes: map[string]int64{}, made: map[string]code.Kind{}, manifests: map[string]*manifest{}, commits: map[string][]byte{},
	}, nil
}

// Close does nothing, because the object store belongs to the caller.
func (s *Store) Close() error { return nil }

// Lock excludes all other callers on this node from the workspace with this key.
func (s *Store) Lock(key string) (unlock func()) {
	l := &s.locks[s.shard(key)]
	l.Lock()
	return l.Unlock
}

// RLock excludes writers on this node.
func (s *Store) RLock(key string) (unlock func()) {
	l := &s.locks[s.shard(key)]
	l.RLock()
	return l.RUnlock
}

// LockReading implements code.Store. Two keys can share one lock. All callers take the locks in the
// same order, so that they cannot deadlock.
func (s *Store) LockReading(key, read string) (unlock func()) {
	mine, other := s.shard(key), s.shard(read)
	if mine == other {
		return s.Lock(key)
	}
	first, second := s.Lock, s.RLock
	if other < mine {
		key, read, first, second = read, key, s.RLock, s.Lock
	}
	one := first(key)
	two := second(read)
	return func() { two(); one() }
}

func (s *Store) shard(key string) uint64 { return maphash.String(s.seed, key) % lockShards }

func treeKey(id, name string) string           { return prefix + id + "/trees/" + name }
func madeKey(id string, kind code.Kind) string { return prefix + id + "/made-" + string(kind) }

// Make implements code.Store.
func (s *Store) Make(id string, kind code.Kind) error {
	switch {
	case !idForm.MatchString(id):
		return fmt.Errorf("make workspace: %q is not an id", id)
	case treeForm[kind] == nil:
		return fmt.Errorf("make workspace: %q is not a kind of workspace", kind)
	}
	if err := s.opts.Gate(); err != nil {
		return err
	}
	if err := objects.PutBytes(context.Background(), s.opts.Objects, madeKey(id, kind), nil); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	s.remembers(id, kind)
	return nil
}

func (s *Store) remembers(id string, kind code.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.made) > maxRemembered {
		clear(s.made)
	}
	s.made[id] = kind
}

// known returns an error if a workspace does not exist.
func (s *Store) known(ctx context.Context, id string, kind code.Kind) error {
	if !idForm.MatchString(id) || treeForm[kind] == nil {
		return code.ErrMissing
	}
	s.mu.Lock()
	made := s.made[id] == kind
	s.mu.Unlock()
	if made {
		return nil
	}
	_, err := s.opts.Objects.Stat(ctx, madeKey(id, kind))
	if errors.Is(err, objects.ErrNotFound) {
		s.opts.Damaged()
		return code.ErrMissing
	}
	if err == nil {
		s.remembers(id, kind)
	}
	return err
}

// Remove implements code.Store. During a backup or after a failure, the removal is postponed.
func (s *Store) Remove(id string) {
	if !idForm.MatchString(id) {
		return
	}
	s.forget(id)
	if err := s.remove(context.Background(), id); err != nil {
		s.opts.Logger.Warn("removing the code of a workspace failed; a sweep will remove it", "workspace", id, "error", err)
	}
}

func (s *Store) remove(ctx context.Context, id string) error {
	if s.holds.Postpone(id) {
		return nil
	}
	var keys []string
	err := s.opts.Objects.List(ctx, prefix+id+"/", func(i objects.Info) error {
		keys = append(keys, i.Key)
		return nil
	})
	if err != nil {
		return err
	}
	if held, err := s.held(ctx); err != nil || held {
		return err // a sweep retries
	}
	for _, key := range keys {
		if err := s.opts.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sizes, id)
	delete(s.made, id)
	for key, c := range s.commits {
		if path.Dir(path.Dir(key)) == prefix+id {
			s.commitBytes -= len(c)
			delete(s.commits, key)
		}
	}
	for key, m := range s.manifests {
		if path.Dir(path.Dir(key)) == prefix+id {
			s.files -= len(m.Files) + 10
			delete(s.manifests, key)
		}
	}
}

func (s *Store) forgetTrees(id string, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if m := s.manifests[treeKey(id, name)]; m != nil {
			s.files -= len(m.Files) + 10
			delete(s.manifests, treeKey(id, name))
		}
	}
}

func (s *Store) remember(id string, m *manifest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := treeKey(id, m.Tree)
	if s.manifests[key] != nil {
		return
	}
	if s.files += len(m.Files) + 10; s.files > maxFiles {
		clear(s.manifests) // clearing all entries is cheaper than keeping them in order
		s.files = len(m.Files) + 10
	}
	s.manifests[key] = m
}

// load returns the manifest of a tree.
func (s *Store) load(ctx context.Context, id string, kind code.Kind, name string) (*manifest, error) {
	if !idForm.MatchString(id) || treeForm[kind] == nil || !treeForm[kind].MatchString(name) {
		return nil, code.ErrMissing
	}
	key := treeKey(id, name)
	s.mu.Lock()
	m := s.manifests[key]
	s.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := s.loadObject(ctx, key, kind, name)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		s.opts.Damaged()
		return nil, code.ErrMissing
	case errors.Is(err, durable.ErrCorrupt):
		s.opts.Damaged()
		fallthrough
	case err != nil:
		return nil, fmt.Errorf("read tree %s: %w", name, err)
	}
	s.remember(id, m)
	return m, nil
}

func (s *Store) loadObject(ctx context.Context, key string, kind code.Kind, name string) (*manifest, error) {
	b, err := objects.GetBytes(ctx, s.opts.Objects, key, 0, beginning, beginning)
	if err != nil {
		if errors.Is(err, objects.ErrRange) {
			err = damaged("%s is empty", name)
		}
		return nil, err
	}
	n, sum, err := lengthOf(b)
	if err != nil {
		return nil, err
	}
	if missing := lineBytes + n - int64(len(b)); missing > 0 {
		rest, err := objects.GetBytes(ctx, s.opts.Objects, key, int64(len(b)), missing, missing)
		if errors.Is(err, objects.ErrRange) || err == nil && int64(len(rest)) < missing {
			err = damaged("%s is truncated", name)
		}
		if err != nil {
			return nil, err
		}
		b = append(b, rest...)
	}
	return decode(b[lineBytes:lineBytes+n], sum, kind, name)
}

// List implements code.Store.
func (s *Store) List(id string, kind code.Kind, name string) (paths []string, err error) {
	m, err := s.load(context.Background(), id, kind, name)
	if err != nil {
		return nil, err
	}
	return sorted(m.entries()), nil
}

// Describe implements code.Store.
func (s *Store) Describe(id string, kind code.Kind, name string) ([]code.Info, error) {
	m, err := s.load(context.Background(), id, kind, name)
	if err != nil {
		return nil, err
	}
	out := make([]code.Info, len(m.Files))
	for i := range m.Files {
		f := &m.Files[i]
		out[i] = code.Info{Path: f.Path, Mode: f.mode(), Size: f.Size, Binary: f.Form == binaryForm}
	}
	return out, nil
}

// Read implements code.Store.
func (s *Store) Read(id string, kind code.Kind, name, path string) (content []byte, about code.Info, err error) {
	if err := code.CheckPath(path); err != nil {
		return nil, about, err
	}
	ctx := context.Background()
	m, err := s.load(ctx, id, kind, name)
	if err != nil {
		return nil, about, err
	}
	f := m.byPath[path]
	if f == nil {
		return nil, about, code.ErrNotFound
	}
	if content, err = s.content(ctx, id, m, f); err != nil {
		return nil, about, err
	}
	return content, code.Info{Path: path, Mode: f.mode(), Size: f.Size, Binary: code.Binary(content)}, nil
}

// content reads and verifies a file of a tree.
func (s *Store) content(ctx context.Context, id string, m *manifest, f *file) (content []byte, err error) {
	content = []byte{}
	if src := m.bundleOf(f); f.Size > 0 {
		content, err = objects.GetBytes(ctx, s.opts.Objects, treeKey(id, src.Tree), src.Start+f.At, f.Size, f.Size)
	}
	if err == nil {
		err = m.check(f, content)
	}
	if errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrRange) {
		err = damaged("%s of %s is missing", f.Path, m.Tree)
	}
	if errors.Is(err, durable.ErrCorrupt) {
		s.opts.Damaged()
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Pack implements code.Store.
func (s *Store) Pack(id string, kind code.Kind, heads []code.Head, at time.Time) (_ io.ReadCloser, size int64, err error) {
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	ctx := context.Background()
	if err := s.known(ctx, id, kind); err != nil {
		return nil, 0, err
	}
	sp, err := s.spool(id, kind)
	if err != nil {
		return nil, 0, err
	}
	defer sp.close()
	return s.packed(func(f *os.File) error {
		p := newPacker(f, at)
		if kind == code.Git {
			err = p.repository(&history{ctx: ctx, sp: sp, blobs: map[string]located{}}, heads)
		} else {
			err = sp.folders(ctx, p, heads)
		}
		return errors.Join(err, p.Close())
	})
}

// PackTree implements code.Store.
func (s *Store) PackTree(id string, kind code.Kind, tree string, how code.Archive, at time.Time) (_ io.ReadCloser, size int64, err error) {
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	ctx := context.Background()
	m, err := s.load(ctx, id, kind, tree)
	if err != nil {
		return nil, 0, err
	}
	sp, err := s.spool(id, kind)
	if err != nil {
		return nil, 0, err
	}
	defer sp.close()
	return s.packed(func(f *os.File) error {
		var p interface {
			File(name string, content []byte, mode code.Mode) error
			Close() error
		} = newPacker(f, at)
		if how == code.Zip {
			p = &zipPacker{zip.NewWriter(f), at}
		}
		for i := range m.Files {
			content, err := sp.read(ctx, m, &m.Files[i])
			if err == nil {
				err = p.File(m.Files[i].Path, content, m.Files[i].mode())
			}
			if err != nil {
				return err
			}
		}
		return p.Close()
	})
}

// packed returns an archive written by write, as a reader positioned at its beginning, and its
// size.
func (s *Store) packed(write func(f *os.File) error) (_ io.ReadCloser, size int64, err error) {
	f, err := s.nameless()
	if err != nil {
		return nil, 0, err
	}
	err = write(f)
	if err == nil {
		size, err = f.Seek(0, io.SeekEnd)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, fmt.Errorf("pack workspace: %w", err)
	}
	return f, size, nil
}

// nameless creates a file without a name, which disappears when it is closed.
func (s *Store) nameless() (*os.File, error) {
	f, err := os.CreateTemp(s.opts.Dir, "tree-*")
	if err == nil {
		if err = os.Remove(f.Name()); err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("make a file for trees: %w", err)
	}
	return f, nil
}
