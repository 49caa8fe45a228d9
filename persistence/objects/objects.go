package objects

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"
)

// Errors of a Store, wrapped. A full store returns durable.ErrReadOnly; one that cannot be reached,
// or unexpectedly refuses a request, durable.ErrUnavailable.
var (
	// ErrNotFound means that the object does not exist.
	ErrNotFound = errors.New("objects: not found")
	// ErrRange means that an object does not have the requested part.
	ErrRange = errors.New("objects: the object has no such part")
	// ErrSum means that the content does not match its expected hash.
	ErrSum = errors.New("objects: the content has another sum")
)

// Info is the metadata of an object.
type Info struct {
	Key  string
	Size int64 // bytes
	// Changed is when it was put, by the clock of the store, to the second.
	Changed time.Time
}

// Store stores objects by key. No key is a prefix of another up to a slash, because on disks that
// would be a file and a folder. Safe for concurrent use, by many nodes. A context ends a call
// early; calls also have time limits.
type Store interface {
	// Put stores the size bytes of content, with sum as their SHA-256. If it returns nil, the
	// object is complete and durable; if not, an earlier object may still exist under the key, but
	// never a partial one. Content may be read several times, and is not read after Put returns.
	Put(ctx context.Context, key string, content io.ReaderAt, size int64, sum [32]byte) error
	// Get reads n bytes from a position on, or fewer at the end, or all if n is negative. It
	// returns the number of bytes. The reader must verify the bytes against a sum, since a store
	// may return other bytes than it received.
	Get(ctx context.Context, key string, from, n int64) (content io.ReadCloser, size int64, err error)
	// Stat returns the metadata of an object.
	Stat(ctx context.Context, key string) (Info, error)
	// List calls fn with the objects with the key prefix, in key order, until fn fails. Objects
	// that are added or removed meanwhile are possibly included.
	List(ctx context.Context, prefix string, fn func(Info) error) error
	// Delete removes an object, if it exists.
	Delete(ctx context.Context, key string) error
}

// maxKey bounds a key, bytes.
const maxKey = 512

// Path segments cannot begin with a dot. So no key leads out of the store's folder, or to the
// store's own files there.
var (
	keyForm    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$`)
	prefixForm = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]*/)*([a-z0-9][a-z0-9._-]*)?$`)
)

// CheckKey returns an error if a key is invalid.
func CheckKey(key string) error {
	if len(key) > maxKey || !keyForm.MatchString(key) {
		return fmt.Errorf("objects: %.80q is not a key", key)
	}
	return nil
}

// CheckPrefix returns an error if a text cannot be the prefix of keys. The empty prefix is valid.
func CheckPrefix(prefix string) error {
	if len(prefix) > maxKey || !prefixForm.MatchString(prefix) {
		return fmt.Errorf("objects: %.80q begins no key", prefix)
	}
	return nil
}

// PutBytes puts a small object.
func PutBytes(ctx context.Context, s Store, key string, content []byte) error {
	return s.Put(ctx, key, bytes.NewReader(content), int64(len(content)), sha256.Sum256(content))
}

// tries is the number of attempts if a transfer is interrupted.
const tries = 3

// GetBytes reads n bytes from a position on, or fewer at the end, or all if n is negative, but at
// most limit. A longer object fails with ErrRange.
func GetBytes(ctx context.Context, s Store, key string, from, n, limit int64) (content []byte, err error) {
	for range tries {
		if content, err = getBytes(ctx, s, key, from, n, limit); err == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			return content, err
		}
	}
	return nil, err
}

func getBytes(ctx context.Context, s Store, key string, from, n, limit int64) ([]byte, error) {
	r, size, err := s.Get(ctx, key, from, n)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if size < 0 || size > limit {
		return nil, fmt.Errorf("%w: %s is longer than %d bytes", ErrRange, key, limit)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read object %s: %w", key, err)
	}
	return content, nil
}

// Random returns a unique part of a key.
func Random() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// errSome ends a listing at the first object.
var errSome = errors.New("there is one")

// Vacant reports whether a store is empty.
func Vacant(ctx context.Context, s Store) (bool, error) {
	err := s.List(ctx, "", func(Info) error { return errSome })
	if errors.Is(err, errSome) {
		return false, nil
	}
	return err == nil, err
}
