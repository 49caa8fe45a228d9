package badger

import (
	"maps"
	"slices"
	"testing"

	badgerpb "github.com/dgraph-io/badger/v4/pb"
)

// TestOnlyHarmlessChangesOfTheManifestAreUndone: what a failed sync leaves looks
// much like a table that is lost.
func TestOnlyHarmlessChangesOfTheManifestAreUndone(t *testing.T) {
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
		"nothing failed":           {[]changeSet{{add(1)}, {add(2)}}, []uint64{1, 2}, 201, false, []uint64{1, 2}},
		"a compaction":             {[]changeSet{{add(1)}, {add(2)}, {add(3), del(1), del(2)}}, []uint64{1, 2}, 0, true, []uint64{1, 2}},
		"one that came again":      {[]changeSet{{add(1)}, {add(3), del(1)}, {add(4), del(1)}}, []uint64{4}, 0, true, []uint64{4}},
		"a memtable":               {[]changeSet{{add(1)}, {add(2)}}, []uint64{1}, 101, true, []uint64{1}},
		"the first memtable":       {[]changeSet{{add(1)}}, nil, 1, true, nil},
		"half of a compaction":     {[]changeSet{{add(1)}, {add(3), add(4), del(1)}}, []uint64{1, 4}, 0, true, []uint64{1}},
		"a compaction that lost":   {[]changeSet{{add(1)}, {add(2)}, {add(3), del(1), del(2)}}, []uint64{1}, 0, false, []uint64{3}},
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
				t.Errorf("undone: %v, named are %v", undone, named)
			}
		})
	}
}
