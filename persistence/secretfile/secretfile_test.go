package secretfile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestASecretIsMadeOnceAndItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets", "a.key")
	asked := 0
	fresh := func() string { asked++; return fmt.Sprintf("%043d", asked) }
	first, made, err := LoadOrMake(path, fresh)
	if err != nil || !made || len(first) < 40 {
		t.Fatalf("%v %v", made, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if again, made, err := LoadOrMake(path, fresh); err != nil || made || again != first {
		t.Errorf("the second time: %v %v", made, err)
	}
	if err := Keep(path, "another"); err != nil {
		t.Fatal(err)
	}
	if again, _, err := LoadOrMake(path, fresh); err != nil || again != "another" {
		t.Errorf("%q %v", again, err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
