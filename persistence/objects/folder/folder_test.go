package folder_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/durable"
	"atelier/persistence/objects"
	"atelier/persistence/objects/folder"
	"atelier/persistence/objects/objectstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAFolderSatisfiesTheContractOfAStore(t *testing.T) { objectstest.Run(t, objectstest.Folder) }

// Another node can be writing a temporary file now, so only old temporary files are removed.
func TestOnlyOldTemporaryFilesAreCleared(t *testing.T) {
	b := objectstest.Folder(t)
	temp := filepath.Join(b.Dir, ".tmp")
	for name, age := range map[string]time.Duration{"dead": 25 * time.Hour, "living": time.Hour} {
		path := filepath.Join(temp, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	s, err := folder.Open(folder.Options{Dir: b.Dir, MinFreeBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	left, err := os.ReadDir(temp)
	if err != nil || len(left) != 1 || left[0].Name() != "living" {
		t.Errorf("the remaining files are %v, %v", left, err)
	}
	if got := b.Keys(t, ""); got != nil {
		t.Errorf("the listed keys are %q", got)
	}
}

func TestAFullOrMissingFolderAcceptsNothing(t *testing.T) {
	if _, err := folder.Open(folder.Options{Dir: filepath.Join(t.TempDir(), "not-mounted")}); err == nil {
		t.Error("a missing folder was opened")
	}
	dir, free := t.TempDir(), uint64(100)
	s, err := folder.Open(folder.Options{Dir: dir, MinFreeBytes: 100, FreeBytes: func() (uint64, error) { return free, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := objects.PutBytes(t.Context(), s, "a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	free = 99
	if err := objects.PutBytes(t.Context(), s, "b", []byte("x")); !errors.Is(err, durable.ErrReadOnly) {
		t.Errorf("writing to a full folder: %v, want ErrReadOnly", err)
	}
}

// zeros is a reader of zero bytes.
type zeros struct{ io.ReaderAt }

func (zeros) ReadAt(p []byte, _ int64) (int, error) { clear(p); return len(p), nil }

// If a folder becomes full while an object is being written, the write stops and leaves no part of
// the object.
func TestALargeObjectIsAbandonedWhenTheFolderIsFull(t *testing.T) {
	const size = 33 << 20
	hash := sha256.New()
	_, _ = io.CopyN(hash, io.NewSectionReader(zeros{}, 0, size), size)
	for _, checks := range []int{1, 2, 3, 100} { // number of checks that find free space
		dir, looked := t.TempDir(), 0
		s, err := folder.Open(folder.Options{Dir: dir, MinFreeBytes: 100, FreeBytes: func() (uint64, error) {
			if looked++; looked > checks {
				return 99, nil
			}
			return 100, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Put(t.Context(), "a/b", zeros{}, size, [32]byte(hash.Sum(nil)))
		_, stat := s.Stat(t.Context(), "a/b")
		temp, failed := os.ReadDir(filepath.Join(dir, ".tmp"))
		if full := checks < 100; full != errors.Is(err, durable.ErrReadOnly) || full != errors.Is(stat, objects.ErrNotFound) || failed != nil || len(temp) != 0 {
			t.Errorf("with room for %d checks: %v, %v; temporary files %v, %v", checks, err, stat, temp, failed)
		}
		if checks < 100 && looked != checks+1 {
			t.Errorf("with room for %d checks, there were %d checks", checks, looked)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Links and unrelated files in the folder are not objects.
func TestLinksAndForeignFilesAreNotObjects(t *testing.T) {
	b := objectstest.Folder(t)
	secret := filepath.Join(t.TempDir(), "secret")
	err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Symlink(secret, filepath.Join(b.Dir, "out")),
		os.Symlink(filepath.Dir(secret), filepath.Join(b.Dir, "up")), os.WriteFile(filepath.Join(b.Dir, "README"), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"out", "up/secret"} {
		if _, _, err := b.Get(t.Context(), key, 0, -1); err == nil {
			t.Errorf("%s was read as an object", key)
		}
	}
	if got := b.Keys(t, ""); got != nil {
		t.Errorf("the listed keys are %q", got)
	}
}

// The content is on disk before the file gets its name. The names of the file and of its parent
// folders are on disk before Put returns.
func TestEverySyncOfAPutIsInItsPlace(t *testing.T) {
	dir := t.TempDir()
	var got []string
	named := func() bool { _, err := os.Stat(filepath.Join(dir, "a/b/c")); return err == nil }
	s, err := folder.Open(folder.Options{Dir: dir, MinFreeBytes: 1, Synced: func(path string) {
		if filepath.Dir(path) == ".tmp" {
			path = "content"
		}
		got = append(got, fmt.Sprint(path, " ", named()))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := objects.PutBytes(t.Context(), s, "a/b/c", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"content false", "a/b true", "a true", ". true"}; !slices.Equal(got, want) {
		t.Errorf("the syncs are %q, want %q", got, want)
	}
	got = nil
	if err := s.Link("a/b/c", "d/e"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"d true", ". true"}; !slices.Equal(got, want) {
		t.Errorf("for a second name, the syncs are %q, want %q", got, want)
	}
}
