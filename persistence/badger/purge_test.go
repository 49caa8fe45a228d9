package badger

import (
	"errors"
	"testing"

	"atelier/actors/durable/journaltest"
	"atelier/persistence/layout"
)

// A purge that was interrupted after any of its steps is finished at the next start. No data of the
// actor and no mark of the purge is left.
func TestAnInterruptedPurgeIsFinished(t *testing.T) {
	const actor = "codelab/1"
	for skip := range 3 {
		dir, crash := t.TempDir(), errors.New("crash")
		steps := 0
		s := openTest(t, small(dir), hooks{snapshotStep: func(name string) error {
			if name != stepPurge {
				return nil
			}
			if steps++; steps <= skip {
				return nil
			}
			return crash
		}})
		add(t, s, actor, 1, "one")
		add(t, s, actor, 2, "two")
		snap(t, s, actor, 1, "state")
		if err := s.Purge(actor); !errors.Is(err, crash) {
			t.Fatalf("purge: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		s = openTest(t, small(dir), hooks{})
		for _, family := range []byte{layout.FamilyPart, layout.FamilyChunk, layout.FamilyHead} {
			if n := keys(t, s, layout.ActorPrefix(family, actor)); n != 0 {
				t.Errorf("after step %d: %d keys of family %q are left", skip, n, family)
			}
		}
		if n := keys(t, s, layout.AppendRowKey(nil, layout.PurgeTable, nil)); n != 0 {
			t.Errorf("after step %d: the mark is left", skip)
		}
		l := openLog(t, s, actor)
		if whole, err := journaltest.ReadWhole(l, journaltest.Everything); err != nil || whole.Seq != 0 || len(whole.Records) != 0 {
			t.Errorf("after step %d: %+v, %v", skip, whole, err)
		}
	}
}
