package badger

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	badgerpb "github.com/dgraph-io/badger/v4/pb"
)

// undoFailed reverts only sets whose sync failed. A lost table leaves similar traces, but it must
// be reported.
func TestOnlyTracesOfAFailedSyncAreUndone(t *testing.T) {
	add := func(id uint64) *badgerpb.ManifestChange { return tableChange(id) }
	del := func(id uint64) *badgerpb.ManifestChange {
		return &badgerpb.ManifestChange{Id: id, Op: badgerpb.ManifestChange_DELETE}
	}
	for what, c := range map[string]struct {
		sets        []changeSet
		present     []uint64 // each with a newest version of 100 times its number
		firstLogged uint64
		undone      bool
		named       []uint64
	}{
		"no failure":               {[]changeSet{{add(1)}, {add(2)}}, []uint64{1, 2}, 201, false, []uint64{1, 2}},
		"a compaction":             {[]changeSet{{add(1)}, {add(2)}, {add(3), del(1), del(2)}}, []uint64{1, 2}, 0, true, []uint64{1, 2}},
		"a repeated compaction":    {[]changeSet{{add(1)}, {add(3), del(1)}, {add(4), del(1)}}, []uint64{4}, 0, true, []uint64{4}},
		"a memtable":               {[]changeSet{{add(1)}, {add(2)}}, []uint64{1}, 101, true, []uint64{1}},
		"the first memtable":       {[]changeSet{{add(1)}}, nil, 1, true, nil},
		"half of a compaction":     {[]changeSet{{add(1)}, {add(3), add(4), del(1)}}, []uint64{1, 4}, 0, true, []uint64{1}},
		"a lost table":             {[]changeSet{{add(1)}, {add(2)}, {add(3), del(1), del(2)}}, []uint64{1}, 0, false, []uint64{3}},
		"a memtable without a log": {[]changeSet{{add(1)}, {add(2)}}, []uint64{1}, 0, false, []uint64{1, 2}},
		"a memtable before a log":  {[]changeSet{{add(1)}, {add(2)}}, []uint64{1}, 103, false, []uint64{1, 2}},
		"an older memtable":        {[]changeSet{{add(1)}, {add(2)}, {add(3)}}, []uint64{1, 3}, 301, false, []uint64{1, 2, 3}},
	} {
		t.Run(what, func(t *testing.T) {
			m := &manifest{sets: c.sets}
			if err := m.add(); err != nil {
				t.Fatal(err)
			}
			newest := func(named map[uint64]*badgerpb.ManifestChange) (version uint64) {
				for id := range named {
					if slices.Contains(c.present, id) {
						version = max(version, 100*id)
					}
				}
				return version
			}
			undone := m.undoFailed(func(id uint64) bool { return slices.Contains(c.present, id) }, c.firstLogged, newest)
			if named := slices.Sorted(maps.Keys(m.named)); undone != c.undone || !slices.Equal(named, c.named) {
				t.Errorf("undone: %v, the tables are %v", undone, named)
			}
		})
	}
}

// A store with a missing table is refused even without the mark, which would also detect the loss.
// In an earlier version, Badger deleted the table, and used tokens returned their cards again.
func TestAMissingTableIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for round := range 2 {
		s, err := Open(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		writeRound(t, s, round)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	m, err := readManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.sets = m.sets[:len(m.sets)-1]
	if err := errors.Join(m.add(), m.write(dir, nil), removeMark(dir)); err != nil {
		t.Fatal(err)
	}
	o := small(dir)
	if _, err := Open(o); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "000002.sst") {
		t.Fatalf("opening returned %v, want ErrDamaged", err)
	}
	o.RecoverDamaged = true
	if n := rowsLeft(t, openTest(t, o, hooks{})); n != allRows(2) {
		t.Errorf("%d rows of %d are left", n, allRows(2))
	}
}
