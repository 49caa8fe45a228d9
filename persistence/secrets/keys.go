package secrets

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"time"

	"atelier/actors/token/seal"
	"atelier/persistence/ondisk"
)

// ErrMalformed means that the file does not have the format of this package. The error text never
// includes the content.
var ErrMalformed = errors.New("malformed key file")

const keyFormat = 1

type keyFile struct {
	Format int        `json:"format"`
	Keys   []keyEntry `json:"keys"` // oldest first
	// Sum is the checksum of the keys.
	Sum string `json:"crc32c"`
}

// sum computes the checksum of the fields in which a wrong bit would make tokens invalid.
func (c keyFile) sum() string {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, e := range c.Keys {
		_, _ = fmt.Fprintln(h, e.Version, e.Key, e.MadeAt.Unix(), e.RetiredAt != nil)
		if e.Pending {
			_, _ = fmt.Fprintln(h, "pending")
		}
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

type keyEntry struct {
	Version   uint32     `json:"version"`
	MadeAt    time.Time  `json:"made_at"`
	RetiredAt *time.Time `json:"retired_at,omitempty"`
	Pending   bool       `json:"pending,omitempty"`
	Key       string     `json:"key"` // base64url
}

// LoadKeys returns the keys, oldest first. If the file is missing, the error wraps
// fs.ErrNotExist. A file that others can read is refused.
func LoadKeys(path string) ([]seal.Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read server keys: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("server keys: others can read %s; run chmod 600 on it", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read server keys: %w", err)
	}
	defer clear(b)
	return ParseKeys(path, b)
}

// ParseKeys parses the content of a key file. path is only used in errors.
func ParseKeys(path string, b []byte) ([]seal.Key, error) {
	var c keyFile
	if err := json.Unmarshal(b, &c); err != nil || len(c.Keys) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrMalformed, path) // the decoder's error could quote the key
	}
	if c.Format != keyFormat {
		return nil, fmt.Errorf("%w: %s has format %d, this program reads %d", ErrMalformed, path, c.Format, keyFormat)
	}
	if c.Sum != c.sum() {
		return nil, fmt.Errorf("%w: %s does not match its checksum; restore the file from a copy", ErrMalformed, path)
	}
	var keys []seal.Key
	for i, e := range c.Keys {
		material, err := base64.RawURLEncoding.DecodeString(e.Key)
		if err != nil || len(material) != seal.MaterialBytes || e.Version == 0 || i > 0 && e.Version <= c.Keys[i-1].Version {
			return nil, fmt.Errorf("%w: %s, entry %d", ErrMalformed, path, i+1)
		}
		k := seal.Key{Version: e.Version, Material: material, MadeAt: e.MadeAt, Pending: e.Pending}
		if e.RetiredAt != nil {
			k.RetiredAt = *e.RetiredAt
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// CreateKeys creates the file with a first key. It never overwrites a file.
func CreateKeys(path string, now time.Time) ([]seal.Key, error) {
	switch _, err := os.Stat(path); {
	case err == nil:
		return nil, fmt.Errorf("make server keys: %s exists", path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("make server keys: %w", err)
	}
	keys := []seal.Key{newKey(1, now)}
	return keys, writeKeys(path, keys)
}

// RotateKeys puts a newer version in use immediately, and returns all keys. If an unfinished
// rotation has left a pending key, RotateKeys uses this key.
func RotateKeys(path string, now time.Time) ([]seal.Key, error) {
	keys, err := LoadKeys(path)
	if err != nil {
		return nil, err
	}
	keys = Used(Announced(keys, now), now)
	return keys, writeKeys(path, keys)
}

// Announced returns the keys with a pending newest key. It adds one, unless an unfinished rotation
// has left one.
func Announced(keys []seal.Key, now time.Time) []seal.Key {
	if keys[len(keys)-1].Pending {
		return keys
	}
	k := newKey(keys[len(keys)-1].Version+1, now)
	k.Pending = true
	return append(slices.Clone(keys), k)
}

// Used returns the keys with the newest key in use, no longer pending, and its predecessor retired.
func Used(keys []seal.Key, now time.Time) []seal.Key {
	keys = slices.Clone(keys)
	n := len(keys)
	keys[n-1].Pending = false
	if n > 1 {
		keys[n-2].RetiredAt = now.UTC()
	}
	return keys
}

// Kept returns the keys for which keep reports true, and always the newest key.
func Kept(keys []seal.Key, keep func(seal.Key) bool) (kept []seal.Key) {
	for i, k := range keys {
		if i == len(keys)-1 || keep(k) {
			kept = append(kept, k)
		}
	}
	return kept
}

// KeepKeys removes the versions for which keep reports false from the file, but never the
// newest version. It returns the remaining keys.
func KeepKeys(path string, keep func(seal.Key) bool) ([]seal.Key, error) {
	keys, err := LoadKeys(path)
	if err != nil {
		return nil, err
	}
	kept := Kept(keys, keep)
	if len(kept) == len(keys) {
		return keys, nil
	}
	return kept, writeKeys(path, kept)
}

func newKey(version uint32, now time.Time) seal.Key {
	material := make([]byte, seal.MaterialBytes)
	_, _ = rand.Read(material) // rand.Read never fails
	return seal.Key{Version: version, Material: material, MadeAt: now.UTC()}
}

// writeKeys replaces the file atomically. After a crash the file has either the old or the new
// content.
func writeKeys(path string, keys []seal.Key) error {
	b, err := EncodeKeys(keys)
	if err != nil {
		return err
	}
	defer clear(b)
	// Replace syncs the file, because data that is sealed under a key must never be on disk without
	// the key.
	if err := ondisk.Replace(path, b); err != nil {
		return fmt.Errorf("write server keys: %w", err)
	}
	return nil
}

// EncodeKeys returns the content of a key file.
func EncodeKeys(keys []seal.Key) ([]byte, error) {
	c := keyFile{Format: keyFormat}
	for _, k := range keys {
		e := keyEntry{Version: k.Version, MadeAt: k.MadeAt.Truncate(time.Second), Pending: k.Pending, Key: base64.RawURLEncoding.EncodeToString(k.Material)}
		if !k.RetiredAt.IsZero() {
			at := k.RetiredAt.Truncate(time.Second)
			e.RetiredAt = &at
		}
		c.Keys = append(c.Keys, e)
	}
	c.Sum = c.sum()
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode server keys: %w", err)
	}
	return append(b, '\n'), nil
}
