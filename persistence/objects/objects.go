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

// Errors of a Store, which are wrapped. A full store returns durable.ErrReadOnly. A store that
// cannot be reached, or that unexpectedly refuses a request, returns durable.ErrUnavailable.
var (
	// ErrNotFound means that the object does not exist.
	ErrNotFound = errors.New("objects: not found")
	// ErrRange means that an object does not have the requested part.
	ErrRange = errors.New("objects: the requested part does not exist")
	// ErrSum means that the content does not match its expected hash.
	ErrSum = errors.New("objects: the content does not match its sum")
)

// Info is the metadata of an object.
type Info struct {
	Key  string
	Size int64 // bytes
	// Changed is the time of the put, by the store's clock, to the second.
	Changed time.Time
}

// Store stores objects by key. A key followed by a slash must not be the prefix of another key,
// because in a folder one name would be both a file and a folder. A Store is safe for concurrent
// use, also by many nodes. A call can end early if its context ends. A request to a server also has
// a timeout.
type Store interface {
	// Put stores the size bytes of content, with sum as their SHA-256. If Put returns nil, the
	// object is complete and durable. After an error, the key can have the earlier object, the
	// new object or none, but never a partial one. Put can read content several times, but not
	// after it has returned.
	Put(ctx context.Context, key string, content io.ReaderAt, size int64, sum [32]byte) error
	// Get reads n bytes starting at from, fewer if the object ends earlier, or all if n is
	// negative. size is the number of bytes in content. Get returns ErrRange if from is negative,
	// or positive and not less than the object's size, and ErrNotFound if the object does not
	// exist. The caller must verify the bytes against a sum, because a store can return other
	// bytes than it received.
	Get(ctx context.Context, key string, from, n int64) (content io.ReadCloser, size int64, err error)
	// Stat returns the metadata of an object, or ErrNotFound.
	Stat(ctx context.Context, key string) (Info, error)
	// List calls fn for each object under the prefix, in key order, until fn fails. Objects that
	// are added or removed meanwhile can be included.
	List(ctx context.Context, prefix string, fn func(Info) error) error
	// Delete removes an object, if it exists.
	Delete(ctx context.Context, key string) error
}

// maxKey is the maximum length of a key, in bytes.
const maxKey = 512

// Path segments cannot begin with a dot, so that no key leads out of the store's folder, or to the
// store's own files there.
var (
	keyForm    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$`)
	prefixForm = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]*/)*([a-z0-9][a-z0-9._-]*)?$`)
)

// CheckKey returns an error if a key is invalid.
func CheckKey(key string) error {
	if len(key) > maxKey || !keyForm.MatchString(key) {
		return fmt.Errorf("objects: %.80q is not a valid key", key)
	}
	return nil
}

// CheckPrefix returns an error if a text cannot be the prefix of keys. The empty prefix is valid.
func CheckPrefix(prefix string) error {
	if len(prefix) > maxKey || !prefixForm.MatchString(prefix) {
		return fmt.Errorf("objects: %.80q is not the prefix of any valid key", prefix)
	}
	return nil
}

// PutBytes puts a small object.
func PutBytes(ctx context.Context, s Store, key string, content []byte) error {
	return s.Put(ctx, key, bytes.NewReader(content), int64(len(content)), sha256.Sum256(content))
}

// tries is the maximum number of attempts if transfers are interrupted.
const tries = 3

// GetBytes reads n bytes starting at from, fewer if the object ends earlier, or all if n is
// negative. It fails with ErrRange if the part has more than limit bytes.
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

// Random returns a random string that makes a key unique.
func Random() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails
	return hex.EncodeToString(b[:])
}

// A callback returns errSome to end a listing at the first object.
var errSome = errors.New("an object exists")

// Vacant reports whether a store is empty.
func Vacant(ctx context.Context, s Store) (bool, error) {
	err := s.List(ctx, "", func(Info) error { return errSome })
	if errors.Is(err, errSome) {
		return false, nil
	}
	return err == nil, err
}
