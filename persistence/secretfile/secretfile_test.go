package secretfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// A file without a secret in it is no secret: not one that is cut off, nor one whose
// block the disk has lost.
func TestADamagedSecretIsRefused(t *testing.T) {
	for _, content := range []string{"", "\n", strings.Repeat("\x00", 44), "oKSt-xSHIo56" + strings.Repeat("\x00", 32)} {
		path := filepath.Join(t.TempDir(), "a.key")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if secret, made, err := LoadOrMake(path, func() string { return "fresh" }); err == nil {
			t.Errorf("%q is taken for %q, made %v", content, secret, made)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != content {
			t.Errorf("%q became %q, %v", content, b, err)
		}
	}
}
