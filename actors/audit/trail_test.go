package audit_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// faulty is a store that may fail to read single rows.
type faulty struct {
	*memory.Store
	fault error
	of    []byte // the key of the only row that has it; nil for each
}

func (f *faulty) Get(table string, key []byte) ([]byte, error) {
	if f.fault != nil && (f.of == nil || bytes.Equal(f.of, key)) {
		return nil, f.fault
	}
	return f.Store.Get(table, key)
}

func (f *faulty) Scan(s durable.Scan, visit func(key, value []byte) bool) error {
	if f.fault != nil && s.Table == "audit" {
		if errors.Is(f.fault, durable.ErrNotFound) {
			return nil
		}
		return f.fault
	}
	return f.Store.Scan(s, visit)
}

// TestAnIndexTellsFaultsFromExpiredRecords: a missing record is left out, but an unreadable
// one is an error.
func TestAnIndexTellsFaultsFromExpiredRecords(t *testing.T) {
	store := &faulty{Store: memory.New()}
	defer store.Close()
	trail := audit.New(store, clock.System, time.Hour)
	if err := durable.Commit(store, trail.OwnRows(&audit.Record{Action: "a", CodelabId: "lab"}, &audit.Own{}, "p")); err != nil {
		t.Fatal(err)
	}
	read := func() (int, error, int, error) {
		of, failed := trail.Find(audit.Query{CodelabID: "lab", Limit: 10})
		own, ownFailed := trail.Owned("p", "", 10)
		return len(of), failed, len(own), ownFailed
	}
	if n, err, own, ownErr := read(); n != 1 || err != nil || own != 1 || ownErr != nil {
		t.Errorf("it reads %d (%v) and %d (%v)", n, err, own, ownErr)
	}
	store.fault = durable.ErrNotFound
	if n, err, own, ownErr := read(); n != 0 || err != nil || own != 0 || ownErr != nil {
		t.Errorf("of what expired it reads %d (%v) and %d (%v)", n, err, own, ownErr)
	}
	store.fault = errors.New("the disk is broken")
	if n, err, own, ownErr := read(); n != 0 || !errors.Is(err, store.fault) || own != 0 || !errors.Is(ownErr, store.fault) {
		t.Errorf("with a fault it reads %d (%v) and %d (%v)", n, err, own, ownErr)
	}
}

// The records of a codelab are shown around one that has expired since the index was read,
// and not up to it.
func TestAnExpiredRecordHidesNoOlderOnes(t *testing.T) {
	store := &faulty{Store: memory.New()}
	defer store.Close()
	trail := audit.New(store, clock.System, time.Hour)
	var ids []string
	for _, action := range []string{"first", "second", "third"} {
		r := &audit.Record{Action: action, CodelabId: "lab"}
		if err := trail.Record(r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.Id)
	}
	store.fault = durable.ErrNotFound
	for expired, want := range map[int][]string{0: {"third", "second"}, 1: {"third", "first"}, 2: {"second", "first"}} {
		store.of = []byte(ids[expired])
		records, err := trail.Find(audit.Query{CodelabID: "lab", Limit: 10})
		var got []string
		for _, r := range records {
			got = append(got, r.Action)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("without record %d it shows %q, %v", expired+1, got, err)
		}
	}
}
