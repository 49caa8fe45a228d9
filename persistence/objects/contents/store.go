package contents

import (
	"cmp"
	"log/slog"
	"time"

	"atelier/actors/files"
	"atelier/persistence/objects"
	"atelier/persistence/ondisk"
)

// Options of a Store. Dir is required.
type Options struct {
	// Dir holds the contents, or the node's copies of them where Objects is given.
	Dir string
	// Objects is the store that several nodes share. Default: contents are in Dir.
	Objects objects.Store
	// Grace is how long Collect spares a content. Default 24 h, and at least an hour with
	// Objects.
	Grace time.Duration
	// MinFreeBytes is the free space of Dir's disk below which nothing is written.
	// Default 1 GiB.
	MinFreeBytes uint64
	// CacheBytes bounds the copies, besides what is read just now. Default 1 GiB.
	CacheBytes int64
	// FreeBytes measures the free space. Default: statfs of Dir.
	FreeBytes func() (uint64, error)
	// Now is the clock of a folder. Default time.Now.
	Now func() time.Time
	// Damaged is called for each content that does not match its hash. Default:
	// nothing is called.
	Damaged func()
	// Logger receives what an operator acts on. Default: nothing is logged.
	Logger *slog.Logger
	// Synced is called with the path of each file and folder after it was synced, for tests
	// of the order. Default: nil.
	Synced func(path string)
}

func (o Options) withDefaults() Options {
	o.Grace = cmp.Or(o.Grace, 24*time.Hour)
	o.MinFreeBytes = cmp.Or(o.MinFreeBytes, 1<<30)
	o.CacheBytes = cmp.Or(o.CacheBytes, 1<<30)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.FreeBytes == nil {
		o.FreeBytes = func() (uint64, error) { return ondisk.FreeBytes(o.Dir) }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Damaged == nil {
		o.Damaged = func() {}
	}
	if o.Synced == nil {
		o.Synced = func(string) {}
	}
	return o
}

// Store is a files.Blobs. Safe for concurrent use.
type Store struct {
	place
	log *slog.Logger
}

// place is the location of the contents.
type place interface {
	files.Blobs
	// Hold keeps everything in its place until release is called.
	Hold() (release func(), err error)
	// Scrub compares every content with its hash and calls damaged for those that
	// differ. It returns how many it read.
	Scrub(damaged func(what string)) (looked int, err error)
	// each calls fn once for each content, until it fails.
	each(fn func(files.Sum) error) error
}

// Open opens the store.
func Open(o Options) (*Store, error) {
	o = o.withDefaults()
	var at place
	var err error
	if o.Objects == nil {
		at, err = openFolder(o)
	} else {
		at, err = openShared(o)
	}
	if err != nil {
		return nil, err
	}
	return &Store{at, o.Logger}, nil
}
