package seal

import (
	"cmp"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Material is the secret part of a server key. It is redacted when printed.
type Material []byte

// Format redacts the key under every verb but %T and %p, which print its type and its address.
func (Material) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue redacts the key.
func (Material) LogValue() slog.Value { return slog.StringValue(redacted) }

// Key is one version of the server's key.
type Key struct {
	Version  uint32 // from 1
	Material Material
	MadeAt   time.Time
	// RetiredAt is the time at which a newer version replaced the key; zero for the newest.
	RetiredAt time.Time
	// Pending means that this node uses the key only to open data from other nodes. New data is
	// sealed under an older key, because not all nodes have this one yet. Only the newest key can
	// be pending.
	Pending bool
}

// MaterialBytes is the length of a key's secret part.
const MaterialBytes = 32

// Ring contains the keys of one environment and one stream of the store, derived from the server's
// keys. It is immutable.
type Ring struct {
	versions []*Version // newest first
	newest   *Version   // the newest version that is not pending
}

// Version contains the keys derived from one server key. It is immutable. Of its keys, only
// the signing key leaves the package (SigningKey).
type Version struct {
	Number uint32
	lookup *keyed // derives the names of records
	record *keyed // authenticates records
	wrap   *keyed // derives sealing keys from the token and, for credentials, the share
	idem   *keyed // derives names and sealing keys of stored answers, and request hashes
	sign   []byte // signs access tokens of OAuth clients
}

// ErrNoKey means that the server has no usable key.
var ErrNoKey = errors.New("seal: no usable server key")

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
		derive := func(purpose string) []byte {
			info := "atelier token v1\x00" + string(e) + "\x00" + stream + "\x00" + purpose
			b, err := hkdf.Key(sha256.New, k.Material, nil, info, 32)
			if err != nil { // happens only for lengths that are not used here
				panic("seal: derive keys")
			}
			return b
		}
		v.lookup, v.record, v.wrap = newKeyed(derive("lookup")), newKeyed(derive("record")), newKeyed(derive("wrap"))
		v.idem, v.sign = newKeyed(derive("idempotency")), derive("sign")
		r.versions = append(r.versions, v)
		if !k.Pending && (r.newest == nil || r.newest.Number < v.Number) {
			r.newest = v
		}
	}
	if r.newest == nil {
		return nil, ErrNoKey
	}
	slices.SortFunc(r.versions, func(a, b *Version) int { return cmp.Compare(b.Number, a.Number) })
	for i := 1; i < len(r.versions); i++ {
		if r.versions[i].Number == r.versions[i-1].Number {
			return nil, fmt.Errorf("%w: version %d occurs twice", ErrNoKey, r.versions[i].Number)
		}
	}
	return r, nil
}

// Newest returns the version for new tokens and answers: the newest that is not pending.
func (r *Ring) Newest() *Version { return r.newest }

// Versions returns all versions, newest first. Callers must not modify the list.
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

// SigningKey returns the key for access tokens.
func (v *Version) SigningKey() []byte { return v.sign }

// Check returns a value that identifies the key without revealing it. The store keeps this value,
// to detect a wrong key at startup.
func (k Key) Check(stream string) []byte {
	return newKeyed(k.Material).mac("atelier key check v1", []byte(stream))
}

// keyed is HMAC-SHA256 under one key. It reuses HMACs, because creating one per call took a third
// of the call's time. Safe for concurrent use.
type keyed struct{ spare sync.Pool }

func newKeyed(key []byte) *keyed {
	k := &keyed{}
	k.spare.New = func() any { return hmac.New(sha256.New, key) }
	return k
}

// mac authenticates a purpose and parts. It includes the length of each, so that different lists
// never have the same encoding.
func (k *keyed) mac(purpose string, parts ...[]byte) []byte {
	h := k.spare.Get().(hash.Hash)
	defer k.spare.Put(h)
	h.Reset()
	var scratch [64]byte
	head := append(binary.BigEndian.AppendUint32(scratch[:0], uint32(len(purpose))), purpose...)
	h.Write(head)
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint32(scratch[:0], uint32(len(p))))
		h.Write(p)
	}
	return h.Sum(nil)
}
