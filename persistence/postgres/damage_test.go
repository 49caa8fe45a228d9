package postgres

import (
	"errors"
	"testing"

	"atelier/actors/durable"
	"atelier/actors/durable/journaltest"
	"atelier/persistence/postgres/postgrestest"
)

// The store detects changes that other programs made to its tables.
func TestDamageIsDetected(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, Options{URL: url, Node: "a"})
	log := openLog(t, s, "codelab/1")
	for seq := uint64(1); seq <= 4; seq++ {
		if err := commit(log, seq, "r"); err != nil {
			t.Fatal(err)
		}
	}
	snap(t, log, 2, "state", 0)
	put(t, s, row("k", "v"))
	damaged := func() (n int) {
		if err := s.Scrub(func(string) { n++ }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := damaged(); n != 0 {
		t.Fatalf("%d values are damaged before any change", n)
	}
	postgrestest.Exec(t, url, `update atelier.rows set value = value || 'x'; update atelier.records set chunk = chunk || 'x' where seq = 3`)
	if n := damaged(); n != 2 {
		t.Errorf("%d values are damaged, want a row and a chunk", n)
	}
	_, rowErr := s.Get("t", []byte("k"))
	load := func() error {
		_, err := journaltest.ReadWhole(log, 0)
		return err
	}
	replay := func() error { return log.Replay(0, func(uint64, []byte) error { return nil }) }
	for what, err := range map[string]error{"get": rowErr, "load": load(), "replay": replay(),
		"precondition": durable.Commit(s, []durable.Row{{Table: "t", Key: []byte("k"), Precondition: durable.Unchanged([]byte("v"))}})} {
		if !errors.Is(err, durable.ErrCorrupt) {
			t.Errorf("%s returned %v, want ErrCorrupt", what, err)
		}
	}
	postgrestest.Exec(t, url, "delete from atelier.records where seq = 3")
	if err := replay(); !errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("a missing record: %v, want ErrCorrupt", err)
	}
	postgrestest.Exec(t, url, "delete from atelier.records where seq > 2")
	if err := replay(); !errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("without the last record: %v, want ErrCorrupt", err)
	}
	postgrestest.Exec(t, url, "delete from atelier.records")
	if err := replay(); !errors.Is(err, durable.ErrCorrupt) {
		t.Errorf("without any record: %v, want ErrCorrupt", err)
	}
	postgrestest.Exec(t, url, "update atelier.snapshots set head = head || 'x'")
	if n := damaged(); n != 2 {
		t.Errorf("%d values are damaged, want a row and a head", n)
	}
	for what, err := range map[string]error{"load": load(), "replay": replay()} {
		if !errors.Is(err, durable.ErrCorrupt) {
			t.Errorf("%s after a damaged head: %v, want ErrCorrupt", what, err)
		}
	}
}
