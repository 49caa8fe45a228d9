package secrets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASecretIsCreatedOnceAndReadableByItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets", "a.key")
	asked := 0
	fresh := func() string { asked++; return fmt.Sprintf("%043d", asked) }
	first, made, err := Key(path, fresh)
	if err != nil || !made || len(first) < 40 {
		t.Fatalf("the first call: made %v, %v", made, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	if again, made, err := Key(path, fresh); err != nil || made || again != first {
		t.Errorf("the second call: made %v, %v", made, err)
	}
	if err := KeepKey(path, "another"); err != nil {
		t.Fatal(err)
	}
	if again, _, err := Key(path, fresh); err != nil || again != "another" {
		t.Errorf("after KeepKey, the secret is %q, %v", again, err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// A damaged file is not accepted as a secret. The file can be truncated, the disk can have lost a
// block of it, or the checksum can be on the line of the key.
func TestADamagedSecretIsRefused(t *testing.T) {
	for _, content := range []string{"", "\n", "a key" + sumMark + sumOf("a key"), strings.Repeat("\x00", 44), "oKSt-xSHIo56" + strings.Repeat("\x00", 32)} {
		path := filepath.Join(t.TempDir(), "a.key")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if secret, made, err := Key(path, func() string { return "fresh" }); err == nil {
			t.Errorf("the damaged file %q is read as %q, made %v", content, secret, made)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != content {
			t.Errorf("the file %q became %q, %v", content, b, err)
		}
	}
}

// With one wrong bit, a key could not open the data that it protects.
func TestAnAlteredKeyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.key")
	fresh := func() string { return strings.Repeat("k", 43) }
	if _, _, err := Key(path, fresh); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := []byte(string(whole))
		damaged[i] ^= 4
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if key, _, err := Key(path, fresh); err == nil && key != fresh() {
			t.Errorf("with byte %d changed, the key is %q", i, key)
		} else if err != nil && strings.Contains(err.Error(), "kkk") {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

// Files of older programs have no checksum, and passwords never have one.
func TestASecretWithoutAChecksumIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.key")
	if err := os.WriteFile(path, []byte("an earlier key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, made, err := Key(path, nil); key != "an earlier key" || made || err != nil {
		t.Errorf("read %q, made %v, %v", key, made, err)
	}
	path = filepath.Join(t.TempDir(), "password")
	if _, _, err := Password(path, func() string { return "secret" }); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "secret\n" {
		t.Errorf("the file contains %q, %v", b, err)
	}
}
