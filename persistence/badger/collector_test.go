package badger

import (
	"strings"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/persistence/layout"
)

// Collecting removes the parts of replaced values, but no part that is still in use.
func TestCollectKeepsLargeValues(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	large := strings.Repeat("large", 1<<20)
	add(t, s, "codelab/1", 1, large)
	add(t, s, "codelab/2", 1, large)
	putRow(t, s, "t", "k", large)
	one := keys(t, s, []byte{familyLarge}) / 3
	putRow(t, s, "t", "k", large+"!") // replaces the first value, whose parts remain
	putRow(t, s, "t", "small", large)
	putRow(t, s, "t", "small", "small")
	if err := s.Purge("codelab/2"); err != nil {
		t.Fatal(err)
	}
	if n := keys(t, s, []byte{familyLarge}); n != 4*one {
		t.Errorf("before collecting: %d parts, want %d", n, 4*one)
	}
	if err := s.collector.collect(); err != nil {
		t.Fatal(err)
	}
	if n := keys(t, s, []byte{familyLarge}); n != 2*one {
		t.Errorf("after collecting: %d parts, want %d", n, 2*one)
	}
	if got := replayed(t, openLog(t, s, "codelab/1")); got != "1 "+large+"." {
		t.Errorf("replayed %d bytes", len(got))
	}
	if v, err := s.Get("t", []byte("k")); err != nil || string(v) != large+"!" {
		t.Errorf("row of %d bytes: %v", len(v), err)
	}
}

// Parts whose reference is not yet written must not be collected.
func TestCollectKeepsPartsThatAreBeingWritten(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	entries := []badgerdb.Entry{{Key: layout.AppendRowKey(nil, "t", []byte("k"))}}
	entries[0].Value = layout.Sealed(entries[0].Key, []byte(strings.Repeat("large", 1<<20)))
	release, err := s.moveLarge(entries)
	if err != nil {
		t.Fatal(err)
	}
	collected := make(chan error)
	go func() { collected <- s.collector.collect() }()
	for s.moving.TryRLock() { // until the collector waits for the lock
		s.moving.RUnlock()
	}
	if err := s.commitTxn(entries, nil); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-collected; err != nil {
		t.Fatal(err)
	}
	if v, err := s.Get("t", []byte("k")); err != nil || len(v) != 5<<20 {
		t.Errorf("row of %d bytes: %v", len(v), err)
	}
}

func TestCloseIsIdempotent(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	for range 3 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
