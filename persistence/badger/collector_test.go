package badger

import (
	"strings"
	"testing"
)

// Collecting must not disturb what is live; that it finds something depends on
// Badger's compactions and is not promised.
func TestCollectKeepsLargeValues(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	large := strings.Repeat("large", 1<<20)
	add(t, s, "codelab/1", 1, large)
	putRow(t, s, "t", "k", large)
	putRow(t, s, "t", "k", large)
	if err := s.collector.collect(); err != nil {
		t.Fatal(err)
	}
	if got := replayed(t, openLog(t, s, "codelab/1")); got != "1 "+large+"." {
		t.Errorf("replayed %d bytes", len(got))
	}
	if v, err := s.Get("t", []byte("k")); err != nil || string(v) != large {
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
