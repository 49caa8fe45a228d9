package ondisk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Replace syncs the file and its name. Otherwise a power cut could lose the file although data that
// depends on it was stored.
func TestAFileIsSyncedWithItsName(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(data, "secrets", "a.key")
	var synced []string
	syncFile = func(f *os.File) error {
		name := f.Name()
		if _, err := os.Stat(path); err == nil {
			name += " with it"
		}
		if strings.HasPrefix(filepath.Base(name), tempPrefix) {
			if b, err := os.ReadFile(name); err != nil || len(b) == 0 {
				t.Errorf("synced before it was written: %q %v", b, err)
			}
			name = "file"
		}
		synced = append(synced, name)
		return f.Sync()
	}
	defer func() { syncFile = (*os.File).Sync }()
	if err := Replace(path, []byte("content")); err != nil {
		t.Fatal(err)
	}
	// The name of each new folder is synced as well.
	base := filepath.Dir(data)
	if want := []string{filepath.Dir(base), base, data, "file", filepath.Dir(path) + " with it"}; !slices.Equal(synced, want) {
		t.Errorf("the syncs are %q, want %q", synced, want)
	}
}

// In an earlier version, a power cut removed the whole data folder, because its parent folder had
// not been synced.
func TestAFolderIsSyncedWithItsName(t *testing.T) {
	base := t.TempDir()
	a, b := filepath.Join(base, "a"), filepath.Join(base, "a", "b")
	var synced []string
	syncFile = func(f *os.File) error {
		_, err := os.Stat(b)
		synced = append(synced, fmt.Sprint(f.Name(), " ", err == nil))
		return f.Sync()
	}
	defer func() { syncFile = (*os.File).Sync }()
	for _, want := range [][]string{
		{filepath.Dir(base) + " false", base + " false", a + " true"}, // the folder was created
		{a + " true"}, // the folder existed
	} {
		synced = nil
		if err := MakeFolder(b, 0o700); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(synced, want) {
			t.Errorf("the syncs are %q, want %q", synced, want)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MakeFolder(filepath.Join(base, "file", "c"), 0o700); err == nil {
		t.Error("a folder was created in a file")
	}
}

func TestFreeBytesReturnsTheFreeSpace(t *testing.T) {
	if free, err := FreeBytes(t.TempDir()); err != nil || free == 0 {
		t.Fatalf("%d bytes are free, %v", free, err)
	}
	if _, err := FreeBytes(t.TempDir() + "/none"); err == nil {
		t.Fatal("a missing folder returned no error")
	}
}

func TestTheSizeOfAFolderIncludesItsFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	empty, err := Size(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	const written = 1 << 20
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "c"), make([]byte, written), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "a", "b", "c"), os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close()) // some file systems allocate space only at a sync
	}
	if err != nil {
		t.Fatal(err)
	}
	if full, err := Size(t.Context(), dir); err != nil || full < empty+written {
		t.Errorf("%d bytes, %d without the file: %v", full, empty, err)
	}
	if free, total, err := Space(dir); err != nil || free == 0 || free > total {
		t.Errorf("%d of %d bytes are free: %v", free, total, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Size(ended, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v, want Canceled", err)
	}
	if n, err := Size(t.Context(), filepath.Join(dir, "none")); n != 0 || err != nil {
		t.Errorf("for a missing folder: %d, %v", n, err)
	}
}

// Between fork and exec, a new process shares the descriptors of this one.
func TestUnlockReleasesALockThatAnotherDescriptorShares(t *testing.T) {
	dir := t.TempDir()
	lock := func() *os.File {
		f, err := os.Open(dir)
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := lock()
	shared, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(shared) }()
	if err := Unlock(f); err != nil {
		t.Fatal(err)
	}
	if err := Unlock(lock()); err != nil {
		t.Fatal(err)
	}
}
