package audit_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

// faulty is a store that can fail to read single rows.
type faulty struct {
	*memory.Store
	fault error
	of    []byte // the key of the only row with the fault, or nil if every row has it
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

// A missing record is left out, but an unreadable record is an error.
func TestFaultsAreDistinguishedFromExpiredRecords(t *testing.T) {
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
		t.Errorf("Find returned %d records (%v), Owned %d (%v)", n, err, own, ownErr)
	}
	store.fault = durable.ErrNotFound
	if n, err, own, ownErr := read(); n != 0 || err != nil || own != 0 || ownErr != nil {
		t.Errorf("after the records expired, Find returned %d (%v), Owned %d (%v)", n, err, own, ownErr)
	}
	store.fault = errors.New("the disk is broken")
	if n, err, own, ownErr := read(); n != 0 || !errors.Is(err, store.fault) || own != 0 || !errors.Is(ownErr, store.fault) {
		t.Errorf("with a fault, Find returned %d records (%v), Owned %d (%v)", n, err, own, ownErr)
	}
}

// A record that has expired since the index was read is skipped. Older records of the codelab are
// still returned.
func TestAnExpiredRecordDoesNotHideOthers(t *testing.T) {
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
			t.Errorf("without record %d, the trail has %q, %v", expired+1, got, err)
		}
	}
}

// The trail is searched by codelab, by action, and by the person who acted or was affected.
// The newest records come first. Limit and Offset count only matching records.
func TestTheTrailCanBeSearched(t *testing.T) {
	store := memory.New()
	defer store.Close()
	trail := audit.New(store, clock.System, time.Hour)
	for _, r := range []*audit.Record{
		{UserAgent: "1", Action: "edit", ActorId: "ada", CodelabId: "lab"},
		{UserAgent: "2", Action: "add", ActorId: "ada", TargetId: "bob"},
		{UserAgent: "3", Action: "edit", ActorId: "bob", CodelabId: "other"},
		{UserAgent: "4", Action: "edit", ActorId: "eve", TargetId: "ada", CodelabId: "lab"},
		{UserAgent: "5", Action: "add", ActorId: "eve", TargetId: "lab"},
	} {
		if err := trail.Record(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		audit.Query
		want string
	}{
		{audit.Query{}, "54321"}, {audit.Query{Limit: 2}, "54"}, {audit.Query{Limit: 2, Offset: 2}, "32"}, {audit.Query{Offset: 5}, ""},
		{audit.Query{CodelabID: "lab"}, "41"}, {audit.Query{CodelabID: "la"}, ""}, {audit.Query{OfCodelabs: true}, "431"},
		{audit.Query{Action: "add"}, "52"}, {audit.Query{Action: "edit", Offset: 1}, "31"}, {audit.Query{CodelabID: "lab", Offset: 1}, "1"},
		{audit.Query{Person: "ada"}, "421"}, {audit.Query{Person: "bob"}, "32"}, {audit.Query{Person: "ada", Action: "edit", Limit: 1}, "4"},
		{audit.Query{Person: "ada", CodelabID: "lab", Offset: 1}, "1"}, {audit.Query{Person: "ad"}, ""},
	} {
		if tc.Limit == 0 {
			tc.Limit = 10
		}
		records, err := trail.Find(tc.Query)
		var got string
		for _, r := range records {
			got += r.UserAgent
		}
		if err != nil || got != tc.want {
			t.Errorf("Find(%+v) returned %q, want %q: %v", tc.Query, got, tc.want, err)
		}
	}
}

// All rows of a record expire together, and the mark of a participant's span does not expire
// before the records in it.
func TestRecordsExpireTogether(t *testing.T) {
	for _, retention := range []time.Duration{0, time.Hour} {
		trail := audit.New(nil, clock.System, retention)
		rows := trail.OwnRows(&audit.Record{CodelabId: "lab"}, &audit.Own{}, "p")
		for i, row := range rows {
			if mark := i == 2; row.TTL < retention || (row.TTL > retention) != (mark && retention > 0) {
				t.Errorf("with a retention of %v, the row in %s has the TTL %v", retention, row.Table, row.TTL)
			}
		}
		if len(rows) != 3 {
			t.Errorf("a record has %d rows", len(rows))
		}
	}
}

// A text that a client chooses is cut at a whole character.
func TestALongUserAgentIsCut(t *testing.T) {
	trail := audit.New(nil, clock.System, 0)
	for _, agent := range []string{strings.Repeat("x", 256), strings.Repeat("x", 300), "x" + strings.Repeat("\u00e9", 200), strings.Repeat("\U0001f600", 70)} {
		r := &audit.Record{UserAgent: agent}
		trail.Rows(r)
		if n := len(r.UserAgent); n > 256 || n < min(len(agent), 253) || !utf8.ValidString(r.UserAgent) || !strings.HasPrefix(agent, r.UserAgent) {
			t.Errorf("%d bytes were cut to %d: %q", len(agent), n, r.UserAgent)
		}
	}
}

// A damaged record is an error. It does not end the trail early.
func TestADamagedRecordIsAnError(t *testing.T) {
	store := memory.New()
	defer store.Close()
	trail := audit.New(store, clock.System, time.Hour)
	rows := trail.OwnRows(&audit.Record{CodelabId: "lab"}, &audit.Own{}, "p")
	rows[0].Value = []byte{0xff}
	if err := durable.Commit(store, rows); err != nil {
		t.Fatal(err)
	}
	for _, q := range []audit.Query{{Limit: 10}, {Limit: 10, CodelabID: "lab"}} {
		if records, err := trail.Find(q); err == nil {
			t.Errorf("Find(%+v) returned %v, want an error", q, records)
		}
	}
	if entries, err := trail.Owned("p", "", 10); err == nil {
		t.Errorf("Owned returned %v, want an error", entries)
	}
}

// A record that accompanies no change, such as the record of a login, is written even while the
// disk is nearly full.
func TestARecordUsesTheDiskReserve(t *testing.T) {
	store := memory.New()
	defer store.Close()
	store.SetReadOnly(true)
	if err := audit.New(store, clock.System, time.Hour).Record(&audit.Record{Action: "admin_login"}); err != nil {
		t.Error(err)
	}
}
