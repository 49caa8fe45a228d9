package ondisk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What was replaced must not get lost by a power cut after something was kept
// that needs it.
func TestAFileIsOnDiskWithItsName(t *testing.T) {
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
	if want := []string{"file", filepath.Dir(path) + " with it", data + " with it"}; !slices.Equal(synced, want) {
		t.Errorf("synced are %q, want %q", synced, want)
	}
}

// A power cut took the whole data folder: nobody had synced the folder that it
// lies in.
func TestAFolderIsOnDiskWithItsName(t *testing.T) {
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
		{filepath.Dir(base) + " false", base + " false", a + " true"}, // made
		{a + " true"}, // found
	} {
		synced = nil
		if err := MakeFolder(b, 0o700); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(synced, want) {
			t.Errorf("synced are %q, want %q", synced, want)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MakeFolder(filepath.Join(base, "file", "c"), 0o700); err == nil {
		t.Error("a folder was made in a file")
	}
}

func TestFreeBytes(t *testing.T) {
	if free, err := FreeBytes(t.TempDir()); err != nil || free == 0 {
		t.Fatalf("got %d, %v", free, err)
	}
	if _, err := FreeBytes(t.TempDir() + "/none"); err == nil {
		t.Fatal("no error for a folder that is not there")
	}
}
