package workspaces

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"atelier/actors/code"
	"atelier/persistence/internal/tree"
	"atelier/persistence/ondisk"
)

var (
	// ErrDamaged says that a file is not what was written.
	ErrDamaged = errors.New("workspaces: stored code is damaged")
)

// entry is a file of a tree.
type entry = tree.Entry

var (
	apply  = tree.Apply
	sorted = tree.Sorted
)

// Bounds of a workspace.
const (
	maxFile      = tree.MaxFile
	maxWorkspace = tree.MaxWorkspace
)

const lockShards = 256

// tempPrefix marks what is not finished.
const tempPrefix = ".new-"

// Store keeps workspaces in a folder: a code.Store. Safe for concurrent use.
type Store struct {
	dir  string
	root *os.Root
	gate func() error
	log  *slog.Logger
	busy chan struct{} // places for those who pack

	damaged  func()
	syncer   syncer
	binaries tree.Binaries

	seed  maphash.Seed
	locks [lockShards]sync.RWMutex

	mu      sync.Mutex // guards what follows
	sizes   map[string]int64
	held    int
	waiting map[string]bool // paths to be removed when nothing is held
}

// maxPacking bounds how many workspaces are packed at a time.
const maxPacking = 4

// Open opens the folder, making it when it is missing, and removes what was
// not finished. gate says why nothing may be written now; nil when it may.
// damaged is called for each file that is found not to be what was written.
func Open(dir string, gate func() error, damaged func(), log *slog.Logger) (*Store, error) {
	if err := ondisk.MakeFolder(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of workspaces: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder of workspaces: %w", err)
	}
	s := &Store{dir: dir, root: root, gate: gate, damaged: damaged, log: log, busy: make(chan struct{}, maxPacking), seed: maphash.MakeSeed(), sizes: map[string]int64{}, waiting: map[string]bool{}}
	if err := s.removeIf(func(name string) bool { return strings.HasPrefix(name, tempPrefix) }); err != nil {
		_ = root.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

func (s *Store) removeIf(unwanted func(name string) bool) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("list workspaces: %w", err)
	}
	for _, e := range entries {
		if unwanted(e.Name()) {
			if err := s.root.RemoveAll(e.Name()); err != nil {
				return fmt.Errorf("remove a workspace: %w", err)
			}
		}
	}
	return nil
}

// Lock keeps everybody else from the workspace with this key.
func (s *Store) Lock(key string) (unlock func()) {
	l := s.lock(key)
	l.Lock()
	return l.Unlock
}

// RLock keeps writers from it.
func (s *Store) RLock(key string) (unlock func()) {
	l := s.lock(key)
	l.RLock()
	return l.RUnlock
}

func (s *Store) lock(key string) *sync.RWMutex {
	return &s.locks[maphash.String(s.seed, key)%lockShards]
}

// Hold puts removals off until it is released.
func (s *Store) Hold() (release func(), err error) {
	s.mu.Lock()
	s.held++
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		var due map[string]bool
		if s.held--; s.held == 0 {
			due, s.waiting = s.waiting, map[string]bool{}
		}
		s.mu.Unlock()
		for path := range due {
			s.remove(path)
		}
	}), nil
}

// discard removes something that nobody refers to any more, now or when
// nothing is held. That it fails costs only space, until the next start.
func (s *Store) discard(path string) {
	s.mu.Lock()
	held := s.held > 0
	if held {
		s.waiting[path] = true
	}
	s.mu.Unlock()
	if !held {
		s.remove(path)
	}
}

func (s *Store) remove(path string) {
	if err := s.root.RemoveAll(path); err != nil {
		s.log.Warn("removing code failed", "error", err)
	}
}

var idForm = regexp.MustCompile(`^[0-9a-f-]{36}$`)

// trees is one kind's way to keep trees.
type trees interface {
	// write makes a tree of files, on top of another ("" for none).
	write(base string, files map[string]entry, c code.Change) (tree string, err error)
	// files lists a tree.
	files(tree string) (map[string]entry, error)
	// read reads a file of a tree.
	read(tree, path string) ([]byte, code.Mode, error)
	// publish makes exactly these heads last.
	publish(heads []code.Head) error
	// pack writes what is downloaded.
	pack(to *tree.Packer, heads []code.Head) error
	// scrub reads everything and calls bad for what is damaged.
	scrub(bad func(what string)) (looked int, err error)
	// needs are the files that heads need, by their paths in the workspace's folder.
	needs(heads []code.Head) ([]string, error)
	// walkHeads calls bad for what the heads need and is not there.
	walkHeads(heads []code.Head, bad func(what string)) error
	close() error
}

// open opens a workspace.
func (s *Store) open(id string, kind code.Kind) (trees, error) {
	if !idForm.MatchString(id) {
		return nil, code.ErrMissing
	}
	return s.openFolder(id, kind)
}

func (s *Store) openFolder(id string, kind code.Kind) (trees, error) {
	root, err := s.root.OpenRoot(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, code.ErrMissing
	}
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	if kind == code.Git {
		return openRepository(filepath.Join(s.dir, id), root, s.syncer), nil
	}
	return &folders{s: s, id: id, root: root}, nil
}

// Make makes an empty workspace. It is there for good when Make returns.
func (s *Store) Make(id string, kind code.Kind) (err error) {
	if !idForm.MatchString(id) {
		return fmt.Errorf("make workspace: %q is no id", id)
	}
	if err := s.gate(); err != nil {
		return err
	}
	return s.make(id, kind, func(string) error { return nil })
}

// make makes a workspace that fill has put something into.
func (s *Store) make(id string, kind code.Kind, fill func(temp string) error) (err error) {
	temp := tempPrefix + random()
	if err := s.root.Mkdir(temp, 0o700); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	defer func() {
		if err != nil {
			_ = s.root.RemoveAll(temp)
		}
	}()
	if kind == code.Git {
		err = initRepository(filepath.Join(s.dir, temp), s.syncer)
	} else {
		err = errors.Join(s.root.Mkdir(filepath.Join(temp, treesFolder), 0o700), s.root.Mkdir(filepath.Join(temp, sumsFolder), 0o700))
	}
	if err == nil {
		err = fill(temp)
	}
	if err == nil {
		err = s.syncer.all(filepath.Join(s.dir, temp))
	}
	if err == nil {
		err = s.root.Rename(temp, id)
	}
	if err == nil {
		err = s.syncer.sync(s.dir)
	}
	if err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	return nil
}

// Remove removes a workspace; one that is not there is fine.
func (s *Store) Remove(id string) {
	if !idForm.MatchString(id) {
		return
	}
	s.mu.Lock()
	delete(s.sizes, id)
	s.mu.Unlock()
	s.discard(id)
}

// Write makes a tree out of another ("" for an empty one) and a change. The
// caller holds the lock. Its errors for who asked are *Problem and
// ErrNotFound.
func (s *Store) Write(id string, kind code.Kind, base string, c code.Change) (tree string, err error) {
	if err := s.gate(); err != nil {
		return "", err
	}
	defer func() { s.count(err) }()
	t, err := s.open(id, kind)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	before := map[string]entry{}
	if base != "" {
		if before, err = t.files(base); err != nil {
			return "", err
		}
	}
	after, err := apply(before, c)
	if err != nil {
		return "", err
	}
	if err := s.grow(id, c); err != nil {
		return "", err
	}
	return t.write(base, after, c)
}

// grow counts what a change adds to a workspace, with its history, and refuses
// what is too much.
func (s *Store) grow(id string, c code.Change) error {
	added := int64(4096)
	for _, f := range c.Write {
		added += int64(len(f.Content)) + 4096
	}
	s.mu.Lock()
	size, known := s.sizes[id]
	s.mu.Unlock()
	// What was counted includes what is gone by now.
	if !known || size+added > maxWorkspace {
		var err error
		if size, err = sizeOf(filepath.Join(s.dir, id)); err != nil {
			return err
		}
	}
	if size+added > maxWorkspace {
		return code.Fault("the workspace would be larger than %d MiB with its history", maxWorkspace>>20)
	}
	s.mu.Lock()
	s.sizes[id] = size + added
	s.mu.Unlock()
	return nil
}

// Publish makes exactly these heads last. The caller holds the lock and has
// recorded them.
func (s *Store) Publish(id string, kind code.Kind, heads []code.Head) (err error) {
	t, err := s.open(id, kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	return t.publish(heads)
}

// List returns the paths of a tree, sorted.
func (s *Store) List(id string, kind code.Kind, tree string) (paths []string, err error) {
	defer func() { s.count(err) }()
	t, err := s.open(id, kind)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	files, err := t.files(tree)
	if err != nil {
		return nil, err
	}
	return sorted(files), nil
}

// Describe describes the files of a tree, sorted by path.
func (s *Store) Describe(id string, kind code.Kind, name string) (out []code.Info, err error) {
	defer func() { s.count(err) }()
	t, err := s.open(id, kind)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	files, err := t.files(name)
	if err != nil {
		return nil, err
	}
	out = make([]code.Info, 0, len(files))
	for _, path := range sorted(files) {
		info := files[path].Info(path)
		info.Binary, err = s.binaries.Is(files[path].Sum, func() (bool, error) {
			content, _, err := t.read(name, path)
			return code.Binary(content), err
		})
		if err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	return out, nil
}

// Read returns a file of a tree, and its description.
func (s *Store) Read(id string, kind code.Kind, name, path string) (content []byte, about code.Info, err error) {
	if err := code.CheckPath(path); err != nil {
		return nil, about, err
	}
	defer func() { s.count(err) }()
	t, err := s.open(id, kind)
	if err != nil {
		return nil, about, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	content, mode, err := t.read(name, path)
	if err != nil {
		return nil, about, err
	}
	about = entry{Size: int64(len(content)), Mode: mode}.Info(path)
	about.Binary = code.Binary(content)
	return content, about, nil
}

// count counts the damage that somebody met.
func (s *Store) count(err error) {
	if errors.Is(err, ErrDamaged) || errors.Is(err, code.ErrMissing) {
		s.damaged()
	}
}

func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

var _ code.Store = (*Store)(nil)
