package badger

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// Badger creates its logs without syncing the folder. Before a write is acknowledged, the name of
// its file must be synced.
func TestNamesAreOnDiskBeforeAnAcknowledgement(t *testing.T) {
	var mu sync.Mutex
	synced := map[string]bool{}
	dir := t.TempDir()
	listing := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), walExt) || strings.HasSuffix(e.Name(), valueExt) {
				names = append(names, e.Name())
			}
		}
		return names
	}
	note := func(string) error {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range listing() {
			synced[name] = true
		}
		return nil
	}
	o := small(dir)
	o.MemTableBytes = 4 << 20
	s := openTest(t, o, hooks{syncFolder: note})
	l := openLog(t, s, "codelab/1")
	logs := map[string]bool{}
	record := strings.Repeat("r", 100<<10)
	for seq := uint64(1); len(logs) < 5; seq++ {
		if err := commit(l, seq, record, row("t", fmt.Sprint(seq))); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		for _, name := range listing() {
			logs[name] = true
			if !synced[name] {
				t.Fatalf("record %d is acknowledged, but %s was never synced into the folder", seq, name)
			}
		}
		mu.Unlock()
	}
}

// If the folder cannot be synced, the store must stop, because written data could be in a file
// without a name.
func TestAFolderThatCannotBeSyncedStopsWriting(t *testing.T) {
	failing := false
	s := openTest(t, small(t.TempDir()), hooks{syncFolder: func(string) error {
		if failing {
			return os.ErrInvalid
		}
		return nil
	}})
	l := openLog(t, s, "codelab/1")
	if err := commit(l, 1, "a"); err != nil {
		t.Fatal(err)
	}
	failing = true
	if err := os.WriteFile(s.opts.Dir+"/other", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := commit(l, 2, "b"); err == nil {
		t.Fatal("a write was acknowledged although the folder was not synced")
	}
	if s.broken() == nil {
		t.Fatal("the store still writes")
	}
}

// A change of the folder is noticed even if it follows the previous change so soon that the
// folder's modification time stays the same.
func TestTwoChangesWithTheSameTimeAreDetected(t *testing.T) {
	dir, syncs := t.TempDir(), 0
	n := &names{dir: dir, sync: func(string) error { syncs++; return nil }}
	for _, tc := range []struct {
		changed time.Duration // from now
		want    int           // syncs of two calls
	}{{-time.Hour, 1}, {time.Hour, 2}} {
		at := time.Now().Add(tc.changed)
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
		syncs = 0
		for range 2 {
			if _, err := n.settle(); err != nil {
				t.Fatal(err)
			}
		}
		if syncs != tc.want {
			t.Errorf("changed %v from now: %d syncs, want %d", tc.changed, syncs, tc.want)
		}
	}
}
