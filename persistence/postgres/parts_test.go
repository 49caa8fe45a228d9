package postgres

import (
	"strings"
	"testing"

	"atelier/persistence/layout"
	"atelier/persistence/postgres/postgrestest"
)

// TestALostConnectionBetweenThePartsOfASnapshotIsNoDamage: the state is asked for
// again. It was called damaged, for good.
func TestALostConnectionBetweenThePartsOfASnapshotIsNoDamage(t *testing.T) {
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
			_ = v.conn.PgConn().Conn().Close() // as a cut network does
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
		t.Errorf("a connection that ended reads as: %v", err)
	}
}
