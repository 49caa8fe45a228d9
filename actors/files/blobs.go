package files

import (
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"
)

// Sum is the SHA-256 of a stored object, which is also the object's key.
type Sum [32]byte

// String returns the sum in lower-case hex digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// SumOf reads a sum from a record.
func SumOf(b []byte) (s Sum, ok bool) {
	copy(s[:], b)
	return s, len(b) == len(s)
}

// Errors of Blobs, possibly wrapped. If the disk is nearly full, the error is durable.ErrReadOnly.
var (
	// ErrTooLarge means that a stream exceeds its limit.
	ErrTooLarge = errors.New("files: content exceeds its limit")
	// ErrSource means that reading the stream to store failed.
	ErrSource = errors.New("files: the source failed")
	// ErrMissing means that the stored object or upload does not exist.
	ErrMissing = errors.New("files: not found")
)

// Blobs stores objects by their sum. Persistence implements it. All methods are safe for concurrent
// use.
type Blobs interface {
	// Put stores a stream of at most limit bytes. When Put returns, the object is stored. The
	// object remains at least until the lease is released, and while records refer to it. A stream
	// that fails or is too long leaves nothing.
	Put(r io.Reader, limit int64) (*Lease, error)

	// Spool copies a stream of at most limit bytes into an unnamed file, which is removed when it
	// is closed.
	Spool(r io.Reader, limit int64) (f *os.File, size int64, err error)

	// Open opens a stored object for reading. Open verifies the object against its sum, so the
	// content is complete.
	Open(sum Sum) (content Content, size int64, err error)

	// Discard removes objects without a lease and without references, as reported by inUse. While
	// objects are held for a backup, Discard removes nothing.
	Discard(inUse InUse, sums ...Sum) error

	// Collect does the same as Discard, for all objects whose last Put is longer ago than the grace
	// period. An object can be quarantined by one call and removed by a later one. Collect returns
	// the number of objects that it has removed.
	Collect(inUse InUse) (removed int, err error)
}

// Content is an open stored object. If it is stored on this machine, it is an *os.File.
type Content interface {
	io.ReadSeekCloser
}

// InUse reports whether a record refers to a stored object.
type InUse func(Sum) (bool, error)

// Lease prevents the removal of a stored object until its writer has recorded a reference to it.
type Lease struct {
	Sum  Sum
	Size int64

	once    sync.Once
	release func()
}

// NewLease returns a lease that ends with release.
func NewLease(sum Sum, size int64, release func()) *Lease {
	return &Lease{Sum: sum, Size: size, release: release}
}

// Release ends the lease. Further calls, and calls on nil, do nothing.
func (l *Lease) Release() {
	if l != nil {
		l.once.Do(l.release)
	}
}
