package contents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/objects"
)

const (
	prefix          = "contents/"
	discardedPrefix = "discarded/"
	// settled is the age of an object by which a reference to it must have been recorded.
	settled = time.Hour
	// putAgain is how long a node relies on its own earlier put. It is shorter than settled, so
	// that there is time to record the reference.
	putAgain = settled / 2
	// maxKnown is the maximum number of puts that a node remembers.
	maxKnown = 4096
)

// shared stores objects in an object store shared by several nodes. Copies of the objects used on
// this node are cached in a folder.
type shared struct {
	opts  Options
	clock *objects.Clock
	local *folder
	cache *cache

	mu sync.Mutex
	// Guarded by mu. put contains the time of this node's last put of each content, and fetching
	// the running downloads.
	put      map[files.Sum]time.Time
	fetching map[files.Sum]*fetch
}

// fetch is one download. All readers of the object wait for it.
type fetch struct {
	done chan struct{} // closed by the downloading reader
	err  error         // set before done is closed
}

// openShared opens the store o.Objects. It removes all files from o.Dir.
func openShared(o Options) (*shared, error) {
	o.Grace = max(o.Grace, settled)
	if err := os.RemoveAll(o.Dir); err != nil {
		return nil, fmt.Errorf("clear copies of contents: %w", err)
	}
	// Options.Damaged is not passed on. A damaged copy does not mean that the object is damaged;
	// the object is fetched again.
	local, err := openFolder(Options{Dir: o.Dir, MinFreeBytes: o.MinFreeBytes}.withDefaults())
	if err != nil {
		return nil, err
	}
	s := &shared{opts: o, clock: objects.NewClock(o.Objects), local: local, put: map[files.Sum]time.Time{}, fetching: map[files.Sum]*fetch{}}
	s.cache = &cache{limit: o.CacheBytes, copies: map[files.Sum]copied{}, drop: func(sum files.Sum) { _ = local.Discard(nobody, sum) }}
	return s, nil
}

func nobody(files.Sum) (bool, error) { return false, nil }

// prefixOf returns the key prefix of all objects whose content has the sum.
func prefixOf(sum files.Sum) string {
	name := sum.String()
	return prefix + name[:2] + "/" + name + "-"
}

// sumOf returns the sum that a key contains.
func sumOf(key string) (files.Sum, bool) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	name, _, dashed := strings.Cut(name, "-")
	b, err := hex.DecodeString(name)
	sum, ok := files.SumOf(b)
	return sum, ok && err == nil && dashed && strings.HasPrefix(key, prefixOf(sum))
}

// Put implements files.Blobs.
func (s *shared) Put(r io.Reader, limit int64) (*files.Lease, error) {
	l, err := s.local.Put(r, limit)
	if err != nil {
		return nil, err
	}
	err = s.keep(l)
	l.Release()
	if err != nil {
		s.cache.remove(l.Sum)
		return nil, fmt.Errorf("put content %s: %w", l.Sum, err)
	}
	s.cache.add(l.Sum, l.Size)
	// Releasing the lease does nothing, because the age of the object protects it.
	return files.NewLease(l.Sum, l.Size, func() {}), nil
}

func (s *shared) keep(l *files.Lease) error {
	if s.hasPut(l.Sum) {
		return nil
	}
	f, _, err := s.local.open(l.Sum)
	if err != nil {
		return err
	}
	defer f.Close()
	begun := time.Now()
	if err := s.opts.Objects.Put(context.Background(), prefixOf(l.Sum)+objects.Random(), f, l.Size, l.Sum); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.put) >= maxKnown {
		clear(s.put) // clearing all entries is cheaper than keeping them in order
	}
	s.put[l.Sum] = begun
	return nil
}

// hasPut reports whether this node put an object with the sum less than putAgain ago. Both the wall
// clock and the monotonic clock must confirm this, because the wall clock may have been set, and
// the monotonic clock may have paused.
func (s *shared) hasPut(sum files.Sum) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.put[sum]
	now := time.Now()
	return known && now.Sub(at) < putAgain && now.Round(0).Sub(at.Round(0)).Abs() < putAgain
}

// forget makes the node forget its last put of an object with the sum, so that the next put sends a
// request.
func (s *shared) forget(sum files.Sum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.put, sum)
}

// Spool implements files.Blobs.
func (s *shared) Spool(r io.Reader, limit int64) (*os.File, int64, error) {
	return s.local.Spool(r, limit)
}

// Open implements files.Blobs. It fetches a copy of the object, which other readers can also use,
// and opens the copy. If no copy can be written, Open reads the object itself.
func (s *shared) Open(sum files.Sum) (files.Content, int64, error) {
	for range 3 { // a fetched copy can be removed before it is opened
		s.cache.expire()
		if f, size, err := s.local.Open(sum); err == nil {
			s.cache.add(sum, size)
			return f, size, nil
		}
		err := s.fetchOnce(sum)
		if errors.Is(err, errNoCopy) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("open content: %w", err)
		}
	}
	f, size, err := s.stream(sum)
	if err != nil {
		return nil, 0, fmt.Errorf("open content: %w", err)
	}
	return f, size, nil
}

// fetchOnce fetches an object, or waits until another reader has fetched it.
func (s *shared) fetchOnce(sum files.Sum) error {
	s.mu.Lock()
	f, under := s.fetching[sum]
	if !under {
		f = &fetch{done: make(chan struct{})}
		s.fetching[sum] = f
	}
	s.mu.Unlock()
	if under {
		<-f.done
		return f.err
	}
	f.err = s.fetch(sum)
	s.mu.Lock()
	delete(s.fetching, sum)
	s.mu.Unlock()
	close(f.done)
	return f.err
}

// copies returns all objects with the sum, youngest first.
func (s *shared) copies(ctx context.Context, sum files.Sum) (list []objects.Info, err error) {
	err = s.opts.Objects.List(ctx, prefixOf(sum), func(i objects.Info) error {
		list = append(list, i)
		return nil
	})
	slices.SortStableFunc(list, func(a, b objects.Info) int { return b.Changed.Compare(a.Changed) })
	return list, err
}

// fetch caches a copy of an undamaged object.
func (s *shared) fetch(sum files.Sum) error {
	ctx := context.Background()
	list, err := s.copies(ctx, sum)
	if err != nil {
		return err
	}
	err = fmt.Errorf("%w: content %s", files.ErrMissing, sum)
	for _, o := range list {
		got := s.fetchCopy(ctx, sum, o)
		if got == nil || errors.Is(got, errNoCopy) {
			return got
		}
		if !errors.Is(got, objects.ErrNotFound) { // an object that was removed meanwhile is skipped
			err = got
		}
	}
	return err
}

func (s *shared) fetchCopy(ctx context.Context, sum files.Sum, o objects.Info) (err error) {
	for try := range 3 {
		var l *files.Lease
		if l, err = s.download(ctx, o); err == nil {
			l.Release()
			if l.Sum != sum {
				_ = s.local.Discard(nobody, l.Sum)
				return s.damaged(sum)
			}
			s.cache.add(sum, l.Size)
			return nil
		}
		switch {
		case errors.Is(err, files.ErrTooLarge): // the object is longer than announced
			return s.damaged(sum)
		case errors.Is(err, errNoCopy) && try > 0: // no space, even after the other copies were dropped
			return err
		case errors.Is(err, errNoCopy):
			s.cache.clear()
		case !errors.Is(err, files.ErrSource): // only files.ErrSource, an interrupted transfer, is retried
			return err
		}
	}
	return err
}

func (s *shared) download(ctx context.Context, o objects.Info) (*files.Lease, error) {
	r, size, err := s.opts.Objects.Get(ctx, o.Key, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	l, err := s.local.Put(r, size)
	if err != nil && !errors.Is(err, files.ErrSource) && !errors.Is(err, files.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", errNoCopy, err)
	}
	return l, err
}

// damaged reports a damaged object. It also makes the node store the content again if the content
// is sent again.
func (s *shared) damaged(sum files.Sum) error {
	s.forget(sum)
	s.opts.Damaged()
	s.opts.Logger.Error("a stored file is damaged", "blob", sum.String())
	return fmt.Errorf("%w: stored file %s does not match its hash", durable.ErrCorrupt, sum)
}

// sound reports whether the content of the object under key has the sum.
func (s *shared) sound(ctx context.Context, sum files.Sum, key string) (bool, error) {
	var err error
	for range 3 {
		var r io.ReadCloser
		if r, _, err = s.opts.Objects.Get(ctx, key, 0, -1); err != nil {
			return false, err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, r)
		_ = r.Close()
		if err == nil {
			return files.Sum(hash.Sum(nil)) == sum, nil
		}
	}
	return false, err
}

func (s *shared) each(fn func(sum files.Sum) error) error {
	var last *files.Sum
	return s.opts.Objects.List(context.Background(), prefix, func(i objects.Info) error {
		sum, ours := sumOf(i.Key)
		if !ours || last != nil && *last == sum {
			return nil
		}
		last = &sum
		return fn(sum)
	})
}

// Scrub verifies every object and calls damaged for damaged ones. It returns the number of verified
// objects.
func (s *shared) Scrub(damaged func(what string)) (looked int, err error) {
	ctx := context.Background()
	err = s.opts.Objects.List(ctx, prefix, func(i objects.Info) error {
		sum, ours := sumOf(i.Key)
		if !ours {
			return nil
		}
		sound, err := s.sound(ctx, sum, i.Key)
		if errors.Is(err, objects.ErrNotFound) {
			return nil // discarded meanwhile
		}
		if err != nil {
			return err
		}
		if looked++; !sound {
			_ = s.damaged(sum)
			damaged("blob " + sum.String())
		}
		return nil
	})
	return looked, err
}
