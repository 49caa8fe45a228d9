package login

import (
	"crypto/rand"
	"encoding/hex"
	"sync/atomic"
	"time"

	"atelier/actors/durable"
	"atelier/actors/internal/held"
)

// familyTable stores the sessions: one row per family, under a random key.
const familyTable = "sessionfamilies"

// family is a first session id and all ids issued from it, directly or indirectly. One row contains
// the whole family, so that changes are atomic.
type family struct {
	// name is the key of the family's row, in hex. Immutable.
	name string

	// mu is held while a change is decided and stored.
	mu held.Lock
	// record is nil after the family has ended. It is written with mu held.
	record atomic.Pointer[record]
	// unsaved means that writing the row failed, so that the row differs from the record. Expire
	// writes the row again.
	unsaved atomic.Bool
	// value is the value that the row has once all queued commits are written. It is set only if
	// several nodes use the store. Guarded by mu.
	value []byte
}

func newFamily() *family {
	key := make([]byte, 16)
	_, _ = rand.Read(key) // never fails
	f := &family{name: hex.EncodeToString(key)}
	f.record.Store(&record{})
	return f
}

// key returns the key of the family's row.
func (f *family) key() []byte {
	key, _ := hex.DecodeString(f.name) // cannot fail: it was encoded from bytes
	return key
}

func parseFamily(key, value []byte) (*family, *record, error) {
	rec, err := parseRecord(value)
	return &family{name: hex.EncodeToString(key)}, rec, err
}

// rows returns the rows that store a record of the family, or that remove the stored record if all
// ids of rec have expired. The caller holds mu.
func (f *family) rows(rec *record, now int64) []durable.Row {
	row := durable.Row{Table: familyTable, Key: f.key(), Delete: true}
	if last := rec.lasts(); last > now {
		row.Delete, row.Value, row.TTL = false, rec.encode(), time.Duration(last-now)*time.Millisecond
	}
	return []durable.Row{row}
}
