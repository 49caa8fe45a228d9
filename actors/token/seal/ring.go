package seal

import (
	"cmp"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Material is the secret part of a server key. It prints as a redaction.
type Material []byte

// String hides the key.
func (Material) String() string { return redacted }

// GoString hides the key.
func (Material) GoString() string { return redacted }

// LogValue hides the key.
func (Material) LogValue() slog.Value { return slog.StringValue(redacted) }

// Key is one version of the server's key.
type Key struct {
	Version  uint32 // from 1
	Material Material
	MadeAt   time.Time
	// RetiredAt is when a newer version took over; zero for the newest.
	RetiredAt time.Time
}

// MaterialBytes is the length of a key's secret part.
const MaterialBytes = 32

// Ring holds the keys of one environment and one stream of the store,
// derived from the server's keys. Immutable.
type Ring struct {
	versions []*Version // newest first
}

// Version is what is derived from one server key. Immutable; its keys never
// leave it.
type Version struct {
	Number uint32
	lookup []byte // names records
	record []byte // authenticates records
	wrap   []byte // half of what opens a seal; the other half is the token
	idem   []byte // names kept answers, and half of what opens them
	sign   []byte // access tokens of OAuth clients
}

// ErrNoKey says that there is no key to work with.
var ErrNoKey = errors.New("seal: no server key")

// NewRing derives the keys.
func NewRing(e Environment, stream string, keys []Key) (*Ring, error) {
	if len(keys) == 0 {
		return nil, ErrNoKey
	}
	r := &Ring{}
	for _, k := range keys {
		if len(k.Material) != MaterialBytes || k.Version == 0 {
			return nil, fmt.Errorf("%w: version %d is malformed", ErrNoKey, k.Version)
		}
		v := &Version{Number: k.Version}
		for purpose, into := range map[string]*[]byte{
			"lookup": &v.lookup, "record": &v.record, "wrap": &v.wrap, "idempotency": &v.idem, "sign": &v.sign,
		} {
			info := "atelier token v1\x00" + string(e) + "\x00" + stream + "\x00" + purpose
			b, err := hkdf.Key(sha256.New, k.Material, nil, info, 32)
			if err != nil {
				return nil, fmt.Errorf("derive keys: %w", err)
			}
			*into = b
		}
		r.versions = append(r.versions, v)
	}
	slices.SortFunc(r.versions, func(a, b *Version) int { return cmp.Compare(b.Number, a.Number) })
	for i := 1; i < len(r.versions); i++ {
		if r.versions[i].Number == r.versions[i-1].Number {
			return nil, fmt.Errorf("%w: version %d is there twice", ErrNoKey, r.versions[i].Number)
		}
	}
	return r, nil
}

// Newest is the version that new things are made under.
func (r *Ring) Newest() *Version { return r.versions[0] }

// Versions returns all versions, newest first. Not to be changed.
func (r *Ring) Versions() []*Version { return r.versions }

// Version returns the version with a number, or nil.
func (r *Ring) Version(number uint32) *Version {
	for _, v := range r.versions {
		if v.Number == number {
			return v
		}
	}
	return nil
}

// SigningKey is the key for access tokens.
func (v *Version) SigningKey() []byte { return v.sign }

// Check is a value from which the key cannot be told and by which it is
// recognised: it is kept in the store, to notice a wrong key at the start.
func (k Key) Check(stream string) []byte {
	return mac(k.Material, "atelier key check v1", []byte(stream))
}

// mac is HMAC-SHA256 over a purpose and parts, each with its length, so that
// no two lists of parts give the same bytes.
func mac(key []byte, purpose string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	write := func(p []byte) {
		n := len(p)
		h.Write([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
		h.Write(p)
	}
	write([]byte(purpose))
	for _, p := range parts {
		write(p)
	}
	return h.Sum(nil)
}
