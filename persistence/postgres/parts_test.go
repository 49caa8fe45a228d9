package postgres

import (
	"strings"
	"testing"

	"atelier/actors/durable"
	"atelier/persistence/layout"
	"atelier/persistence/postgres/postgrestest"
)

// If the connection is lost between the parts of a snapshot, the state is read again. In an earlier
// version, it was reported as damaged, permanently.
func TestALostConnectionDuringASnapshotIsNotDamage(t *testing.T) {
	url := postgrestest.Database(t)
	s := openTest(t, small(url))
	log := openLog(t, s, "codelab/1")
	err := commit(log, 1, "a")
	if err != nil {
		t.Fatal(err)
	}
	state := strings.Repeat("s", 3*layout.PartBytes)
	snap(t, log, 1, state, 0)
	r := &reader{s, "codelab/1"}
	cut := false
	err = r.view(func(v *view, h layout.Head, _ uint64) error {
		if !cut {
			cut = true
			_ = v.conn.PgConn().Conn().Close() // like a cut network
		}
		got, err := r.state(v, h)
		if err != nil {
			return damaged(err)
		}
		if string(got) != state {
			t.Errorf("read %d bytes", len(got))
		}
		return nil
	})
	if err != nil {
		t.Errorf("reading after the connection was lost: %v", err)
	}
}

// When a snapshot replaces another, the parts of the old snapshot are deleted. Removing an actor
// deletes all parts of its snapshot.
func TestPartsOfReplacedSnapshotsAreDeleted(t *testing.T) {
	s := openTest(t, small(postgrestest.Database(t)))
	const actor = "codelab/1"
	log := openLog(t, s, actor)
	for seq := range uint64(3) {
		if err := commit(log, seq+1, "a"); err != nil {
			t.Fatal(err)
		}
		snap(t, log, seq+1, strings.Repeat("s", 2*layout.PartBytes), seq+1)
	}
	log.Close()
	rows := func(table string) (n int) {
		t.Helper()
		if err := s.pool.QueryRow(t.Context(), "select count(*) from "+table+" where actor = $1", []byte(actor)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if parts, heads, records := rows("snapshot_parts"), rows("snapshots"), rows("records"); parts != 2 || heads != 1 || records != 0 {
		t.Errorf("the last snapshot has %d parts and %d heads; there are %d records", parts, heads, records)
	}
	if err := s.Purge(actor); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"snapshot_parts", "snapshots", "records", "owners"} {
		if n := rows(table); n != 0 {
			t.Errorf("%s has %d rows of the actor", table, n)
		}
	}
}

// A page of a log ends by bytes, and the log does not end with it.
func TestALogOfLargeChunksIsReadInSeveralPages(t *testing.T) {
	s := openTest(t, Options{URL: postgrestest.Database(t)})
	l := openLog(t, s, "codelab/large")
	const records = 7
	for seq := uint64(1); seq <= records; seq++ {
		if err := commit(l, seq, strings.Repeat(string(rune('a'+seq)), 3<<20)); err != nil {
			t.Fatal(err)
		}
	}
	read := uint64(0)
	err := l.Load(0, func(durable.Snapshot) error { return nil }, func(seq uint64, record []byte) error {
		if read++; seq != read || len(record) != 3<<20 || record[0] != byte('a'+seq) {
			t.Errorf("record %d has %d bytes, want record %d", seq, len(record), read)
		}
		return nil
	})
	if err != nil || read != records {
		t.Errorf("%d of %d records were read: %v", read, records, err)
	}
}
