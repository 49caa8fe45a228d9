package badger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"atelier/actors/durable"
)

// onDisk says whether a file of the folder holds the bytes.
func onDisk(t *testing.T, dir string, mark []byte) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found = found || bytes.Contains(b, mark)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAnErasedTableIsNotOnDiskEither(t *testing.T) {
	dir := t.TempDir()
	mark, kept := []byte("erase-me-erase-me-erase-me"), []byte("keep-me-keep-me-keep-me")
	s := opened(t, dir)
	put := func(table string, value []byte) {
		t.Helper()
		if err := durable.Commit(s, []durable.Row{{Table: table, Key: []byte("k"), Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	put("keys", mark)
	put("keyz", kept)
	if err := s.Close(); err != nil { // from the log into a table
		t.Fatal(err)
	}
	s = opened(t, dir)
	put("keyz", kept)
	put("keys", append(mark, " newer"...))
	if !onDisk(t, dir, mark) {
		t.Fatal("the mark is not found before: this test looks for the wrong thing")
	}
	for range 2 { // also where there is nothing
		if err := s.Erase("keys"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get("keys", []byte("k")); !errors.Is(err, durable.ErrNotFound) {
		t.Errorf("the row is still there: %v", err)
	}
	put("keyz", kept)
	if got, err := s.Get("keyz", []byte("k")); err != nil || !bytes.Equal(got, kept) {
		t.Errorf("another table has %q, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if onDisk(t, dir, mark) {
		t.Error("the disk still holds it")
	}
	s = opened(t, dir)
	defer s.Close()
	if got, err := s.Get("keyz", []byte("k")); err != nil || !bytes.Equal(got, kept) {
		t.Errorf("after a restart another table has %q, %v", got, err)
	}
}

func opened(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
