package badger

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// A large value is stored in the tree like all other values, but in parts. Each part has its own
// key, and the value's own key has a reference to the parts as its value. The parts are on disk
// before the reference is written, so a reference without its parts is damage. The collector
// removes unreferenced parts, whose value was never acknowledged or has been replaced.
//
// The alternative for such values is Badger's value log. But Badger only logs a failed sync of the
// value log, so that a commit with a dangling pointer succeeds. The value log would also be one
// more kind of file that can be truncated, lost or full. Parts are slower, because the tree writes
// them to its log and then into a table. A record of 2 MiB took 14 ms through the value log, and
// takes 1.1 times as long in parts. A record of 16 MiB took 75 ms, and takes 1.3 to 1.6 times as
// long (BenchmarkLargeRecord, medians of six alternating runs on a busy machine). This is
// acceptable, because such records are rare.

// familyLarge is the family of the parts' keys. Such a key contains the owner's key, a random id of
// 8 bytes, and the part's number in 4 bytes.
const familyLarge = 'l'

// largeReference is the user meta byte of an entry whose value is a reference.
const largeReference = 1

const largeKeyTail = 8 + 4

// maxLargeValue bounds the length in a reference. It allows for the largest batch and its header.
const maxLargeValue = MaxBatchBytes + 1<<20

// reference identifies the parts of a large value.
type reference struct {
	id     uint64
	parts  uint32
	length uint32 // the sum of all parts
}

func (r reference) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, r.id)
	b = binary.BigEndian.AppendUint32(b, r.parts)
	return binary.BigEndian.AppendUint32(b, r.length)
}

func decodeReference(b []byte) (reference, error) {
	if len(b) != 16 {
		return reference{}, fmt.Errorf("%w: a reference of %d bytes", durable.ErrCorrupt, len(b))
	}
	r := reference{
		id:     binary.BigEndian.Uint64(b),
		parts:  binary.BigEndian.Uint32(b[8:]),
		length: binary.BigEndian.Uint32(b[12:]),
	}
	if r.length > maxLargeValue || r.parts == 0 || r.parts > r.length {
		return reference{}, fmt.Errorf("%w: a reference to %d bytes in %d parts", durable.ErrCorrupt, r.length, r.parts)
	}
	return r, nil
}

func largePrefix(owner []byte) []byte {
	return append([]byte{familyLarge}, owner...)
}

func largeKey(owner []byte, id uint64, part uint32) []byte {
	key := binary.BigEndian.AppendUint64(largePrefix(owner), id)
	return binary.BigEndian.AppendUint32(key, part)
}

// splitLargeKey parses the key of a part.
func splitLargeKey(key []byte) (owner []byte, id uint64, ok bool) {
	end := len(key) - largeKeyTail
	if end < 2 || key[0] != familyLarge {
		return nil, 0, false
	}
	return key[1:end], binary.BigEndian.Uint64(key[end:]), true
}

// splitLarge stores the parts of a large value with put and replaces the entry's value with a
// reference to them.
func splitLarge(e *badgerdb.Entry, threshold int64, put func(key, value []byte) error) error {
	var id [8]byte
	_, _ = rand.Read(id[:]) // rand.Read never fails
	r := reference{id: binary.BigEndian.Uint64(id[:]), length: uint32(len(e.Value))}
	for piece := range chunksOf(e.Value, int(threshold/2)) {
		key := largeKey(e.Key, r.id, r.parts)
		if err := put(key, layout.Sealed(key, piece)); err != nil {
			return err
		}
		r.parts++
	}
	e.Value, e.UserMeta = layout.Sealed(e.Key, r.encode()), largeReference
	return nil
}

func chunksOf(b []byte, size int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(size, len(b))
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// maxPartBytes bounds the size of a transaction of parts, unless a single part is larger.
const maxPartBytes = 4 << 20

// moveLarge replaces the large values among the entries with references whose parts are on disk
// when it returns. The caller must call release, even after an error, once the references are
// committed or will never be.
func (s *Store) moveLarge(entries []badgerdb.Entry) (release func(), err error) {
	release = func() {}
	var parts []badgerdb.Entry
	var cost txnCost
	flush := func() error {
		err := s.commitTxn(parts, nil)
		parts, cost = parts[:0], txnCost{}
		return err
	}
	put := func(key, value []byte) error {
		one := txnCost{bytes: s.costs.entry(len(key), len(value)), entries: 1}
		if sum := cost.plus(one); len(parts) > 0 && (sum.bytes > maxPartBytes || !s.costs.fits(sum)) {
			if err := flush(); err != nil {
				return err
			}
		}
		parts, cost = append(parts, badgerdb.Entry{Key: key, Value: value}), cost.plus(one)
		return nil
	}
	held := false
	for i := range entries {
		if int64(len(entries[i].Value)) < s.costs.threshold {
			continue
		}
		if !held {
			held = true
			s.moving.RLock()
			release = s.moving.RUnlock
		}
		if err := splitLarge(&entries[i], s.costs.threshold, put); err != nil {
			return release, err
		}
	}
	if len(parts) > 0 {
		err = flush() // on disk before the reference is written
	}
	return release, err
}

// viewValue passes an item's value to fn. It joins a value that is stored in parts. A value that
// cannot be read counts as damaged.
func viewValue(txn *badgerdb.Txn, item *badgerdb.Item, fn func(value []byte) error) error {
	called := false
	err := item.Value(func(value []byte) error {
		called = true
		if item.UserMeta() != largeReference {
			return fn(value)
		}
		whole, err := joinLarge(txn, item.Key(), value)
		if err != nil {
			return err
		}
		return fn(whole)
	})
	if err == nil && !called {
		err = errors.New("the value is missing")
	}
	if err != nil && !called {
		return fmt.Errorf("%w: read an entry of %s: %w", durable.ErrCorrupt, layout.Describe(item.Key()), err)
	}
	return err
}

// joinLarge reads the parts of a reference.
func joinLarge(txn *badgerdb.Txn, owner, value []byte) ([]byte, error) {
	payload, err := layout.Unseal(owner, value)
	if err != nil {
		return nil, err
	}
	r, err := decodeReference(payload)
	if err != nil {
		return nil, err
	}
	whole := make([]byte, 0, r.length)
	for part := range r.parts {
		piece, err := getValue(txn, largeKey(owner, r.id, part))
		if errors.Is(err, durable.ErrNotFound) {
			err = fmt.Errorf("%w: part %d of %d of an entry of %s is missing", durable.ErrCorrupt, part, r.parts, layout.Describe(owner))
		}
		if err == nil && len(whole)+len(piece) > int(r.length) {
			err = fmt.Errorf("%w: the parts of an entry of %s are too long", durable.ErrCorrupt, layout.Describe(owner))
		}
		if err != nil {
			return nil, err
		}
		whole = append(whole, piece...)
	}
	if len(whole) != int(r.length) {
		return nil, fmt.Errorf("%w: the parts of an entry of %s are too short", durable.ErrCorrupt, layout.Describe(owner))
	}
	return whole, nil
}

// sweepLarge removes unreferenced parts. Its read transaction begins at a moment when no value is
// being written in parts. It therefore cannot remove parts whose reference is still missing.
func (s *Store) sweepLarge(stop func() bool) error {
	s.moving.Lock()
	txn := s.db.NewTransaction(false)
	s.moving.Unlock()
	defer txn.Discard()
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte{familyLarge}})
	defer it.Close()
	b := bulk{store: s}
	var last []byte // owner and id of the previous part
	live := false
	for it.Rewind(); it.Valid() && !stop(); it.Next() {
		key := it.Item().KeyCopy(nil)
		owner, id, ok := splitLargeKey(key)
		if !ok {
			continue // not the key of a part
		}
		if value := key[:len(key)-4]; !bytes.Equal(value, last) {
			var err error
			if live, err = refersTo(txn, owner, id); err != nil {
				return err
			}
			last = value
		}
		if live {
			continue
		}
		if err := b.add(key, nil); err != nil {
			return err
		}
	}
	return b.flush()
}

// refersTo reports whether the value under owner is stored in the parts with this id. If the
// reference is damaged, it returns true, so that the parts stay.
func refersTo(txn *badgerdb.Txn, owner []byte, id uint64) (bool, error) {
	item, err := txn.Get(owner)
	if errors.Is(err, badgerdb.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil || item.UserMeta() != largeReference {
		return false, err
	}
	live := true
	err = item.Value(func(value []byte) error {
		if payload, err := layout.Unseal(owner, value); err == nil {
			if r, err := decodeReference(payload); err == nil {
				live = r.id == id
			}
		}
		return nil
	})
	return live, err
}
