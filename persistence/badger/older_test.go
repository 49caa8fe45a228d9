package badger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/persistence/layout"
)

// An older copy has replaced the older of two logs, so this log ends before the newer log begins.
// In an earlier version, the transactions in between were silently lost.
func TestAnOlderCopyOfALogIsRefused(t *testing.T) {
	dir, wal, starts := crashed(t, 20)
	data, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	end := 0
	for at := walHeader; ; {
		e, ok := walEntryAt(data, at)
		if !ok {
			end = at
			break
		}
		at += e.size
	}
	m, _, err := openMark(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	// These are the marks of a store that has written two logs.
	err = errors.Join(m.restart(), m.setLogs([]uint32{1}, 1, 2))
	early, late := starts[8][0], starts[14][0]
	next := append(append([]byte{}, data[:walHeader]...), data[late:end]...)
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "00002.mem"), next, 0o600), os.WriteFile(wal, data[:early], 0o600))
	c, err2 := checkLogs(dir, nil)
	err = errors.Join(err, err2, m.setLogs([]uint32{1, 2}, 2, c.logs[1].first), m.reached(c.last), m.close())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(small(dir))
	if err == nil {
		t.Errorf("the store opened with %d rows of 20", keys(t, s, []byte{layout.FamilyRow}))
		_ = s.Close()
		return
	}
	if !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
}

// At each start, Badger numbers new tables from the highest existing number, so a number can be
// used twice. In an earlier version, such a table was mistaken for a leftover of a compaction, and
// Badger deleted it.
func TestAMissingTableWithAReusedNumberIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	round := func(n int) {
		s, err := Open(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		writeRound(t, s, n)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	round(0)
	m, err := readManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	// This is the state after a compaction whose table was removed by another compaction.
	if err := m.write(dir, []uint64{2}); err != nil {
		t.Fatal(err)
	}
	round(1)
	s := openTest(t, small(dir), hooks{})
	writeRound(t, s, 2)
	again := copied(t, s)
	b, err := os.ReadFile(markName(dir))
	if err == nil {
		err = os.WriteFile(markName(again), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err = readManifest(again)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(again, "MANIFEST"))
	if err != nil {
		t.Fatal(err)
	}
	// Truncate the end, which is the flush of table 2.
	at := len(manifestHeader)
	for range len(m.sets) - 1 {
		_, size, _ := nextChangeSet(raw[at:])
		at += size
	}
	if err := os.Truncate(filepath.Join(again, "MANIFEST"), int64(at)); err != nil {
		t.Fatal(err)
	}
	s2, err := Open(small(again))
	if err == nil {
		t.Errorf("the store opened with %d rows of %d", rowsLeft(t, s2), allRows(3))
		_ = s2.Close()
		return
	}
	if !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
}

// With an empty mark the store's position is unknown, so the store could be an older copy. Without
// a store the mark is accepted, because a crash can leave it empty.
func TestAnEmptyMarkIsDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.WriteFile(markName(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(recover bool) error {
		o := small(dir)
		o.RecoverDamaged = recover
		s, err := Open(o)
		if err == nil {
			err = s.Close()
		}
		return err
	}
	if err := open(false); err != nil {
		t.Fatalf("an empty mark without a store: %v", err)
	}
	if err := os.Truncate(markName(dir), 0); err != nil {
		t.Fatal(err)
	}
	if err := open(false); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "store.mark") {
		t.Fatalf("an empty mark with a store: %v, want ErrDamaged", err)
	}
	if err := open(false); !errors.Is(err, ErrDamaged) {
		t.Fatalf("the second attempt: %v, want ErrDamaged", err)
	}
	if err := open(true); err != nil {
		t.Fatalf("opening with RecoverDamaged: %v", err)
	}
	if err := open(false); err != nil {
		t.Fatalf("the start after that: %v", err)
	}
}
