package contents

import (
	"cmp"
	"log/slog"
	"time"

	"atelier/actors/files"
	"atelier/persistence/objects"
	"atelier/persistence/ondisk"
)

// Options configures a Store. Dir is required.
type Options struct {
	// Dir is the folder of the objects, or, if Objects is set, of the node's copies of them.
	Dir string
	// Objects is the store shared by several nodes. Default: the objects are in Dir.
	Objects objects.Store
	// Grace is the age from which Collect quarantines unused objects, and the time for which they
	// then stay in quarantine. Default 24 h, and at least an hour with Objects.
	Grace time.Duration
	// MinFreeBytes is the free space on Dir's disk below which nothing is written. Default 1 GiB.
	MinFreeBytes uint64
	// CacheBytes bounds the size of the cached copies, except those that are being read. Default 1
	// GiB.
	CacheBytes int64
	// FreeBytes measures the free space. Default: statfs of Dir.
	FreeBytes func() (uint64, error)
	// Now is the clock for a store in a folder. Default time.Now.
	Now func() time.Time
	// Damaged, if set, is called each time an object is found that does not match its hash.
	Damaged func()
	// Logger receives messages for operators. Default: nothing is logged.
	Logger *slog.Logger
	// Synced is called with the path of each file and folder after it was synced. Tests use it to
	// verify the order. Default: nil.
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

// Store implements files.Blobs. Safe for concurrent use.
type Store struct {
	place
	log *slog.Logger
}

// place is the location of the objects: a folder or an object store.
type place interface {
	files.Blobs
	// Hold prevents all removals until release is called.
	Hold() (release func(), err error)
	// Scrub verifies every object. It calls damaged for each damaged object and, in a folder, for
	// each unreadable object. It returns the number of verified objects.
	Scrub(damaged func(what string)) (looked int, err error)
	// each calls fn once for the sum of each stored content, until fn fails.
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
