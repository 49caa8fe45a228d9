package files

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"
)

// Sum is the SHA-256 of a content, by which it is kept.
type Sum [32]byte

// String is the sum in lower-case hex digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// SumOf reads a sum from a record.
func SumOf(b []byte) (s Sum, ok bool) {
	copy(s[:], b)
	return s, len(b) == len(s)
}

// Errors of a Blobs, wrapped or as they are. A disk that is nearly full gives
// durable.ErrReadOnly.
var (
	// ErrTooLarge means that a stream is longer than its limit.
	ErrTooLarge = errors.New("files: content is over its limit")
	// ErrSource means that the stream that was to be kept failed.
	ErrSource = errors.New("files: the source failed")
	// ErrMissing means that there is no such content or upload.
	ErrMissing = errors.New("files: not found")
)

// Blobs keeps contents by their sum. Persistence implements it. All methods
// are safe for concurrent use.
type Blobs interface {
	// Put keeps a stream of at most limit bytes. When it returns, the content
	// is on disk, and it stays until the lease is released and nothing refers
	// to it. A stream that fails or is too long leaves nothing.
	Put(r io.Reader, limit int64) (*Lease, error)

	// Spool copies a stream of at most limit bytes into a file without a name,
	// which is gone when it is closed.
	Spool(r io.Reader, limit int64) (f *os.File, size int64, err error)

	// Open opens a content for reading. It is complete: it was verified against its sum.
	Open(sum Sum) (content Content, size int64, err error)

	// Discard removes contents that nobody has a lease on and nothing refers
	// to, as inUse reports. While they are held for a backup it does nothing.
	Discard(inUse InUse, sums ...Sum) error

	// Collect is Discard for every content that was put, or put again, longer
	// ago than the grace period. It returns how many it removed.
	Collect(inUse InUse) (removed int, err error)
}

// Content is an open content. If it is stored on this machine, it is an *os.File.
type Content interface {
	io.ReadSeekCloser
}

// InUse reports whether anything that is recorded refers to a content.
type InUse func(Sum) (bool, error)

// Lease keeps a content from being removed until its writer has recorded a
// reference to it.
type Lease struct {
	Sum  Sum
	Size int64

	once    sync.Once
	release func()
}

// NewLease makes a lease that ends with release.
func NewLease(sum Sum, size int64, release func()) *Lease {
	return &Lease{Sum: sum, Size: size, release: release}
}

// Release ends the lease. Further calls, and those on nil, do nothing.
func (l *Lease) Release() {
	if l != nil {
		l.once.Do(l.release)
	}
}
