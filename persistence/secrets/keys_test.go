package secrets

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/actors/token/seal"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestKeysAreCreatedRotatedAndDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets", "keys.json")
	if _, err := LoadKeys(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	first, err := CreateKeys(path, now)
	if err != nil || len(first) != 1 || first[0].Version != 1 {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file has the mode %v, %v", info.Mode(), err)
	}
	if _, err := CreateKeys(path, now); err == nil {
		t.Error("an existing key file was overwritten")
	}
	if _, err := RotateKeys(path, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	keys, err := LoadKeys(path)
	if err != nil || len(keys) != 2 || keys[1].Version != 2 || string(keys[0].Material) != string(first[0].Material) ||
		!keys[0].RetiredAt.Equal(now.Add(time.Hour)) || !keys[1].RetiredAt.IsZero() {
		t.Fatalf("after the rotation, the keys are %+v, %v", keys, err)
	}
	if keys, err = KeepKeys(path, func(seal.Key) bool { return false }); err != nil || len(keys) != 1 || keys[0].Version != 2 {
		t.Fatalf("KeepKeys returned %v", err)
	}
	if keys, err = RotateKeys(path, now); err != nil || keys[1].Version != 3 {
		t.Errorf("a version was reused: %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are left", len(entries))
	}
}

// An interrupted rotation leaves a pending key, which the next rotation must use. If the next
// rotation created another key, there would be a second pending key, and the earlier key would
// never be retired.
func TestAnInterruptedRotationIsResumedWithItsKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	first, err := CreateKeys(path, now)
	if err != nil {
		t.Fatal(err)
	}
	announced := Announced(first, now)
	if again := Announced(announced, now.Add(time.Minute)); len(again) != 2 || string(again[1].Material) != string(announced[1].Material) {
		t.Errorf("after announcing again there are %d keys, or another pending key", len(again))
	}
	if err := writeKeys(path, announced); err != nil {
		t.Fatal(err)
	}
	keys, err := RotateKeys(path, now.Add(time.Hour))
	if err != nil || len(keys) != 2 || string(keys[1].Material) != string(announced[1].Material) || keys[1].Pending || !keys[0].RetiredAt.Equal(now.Add(time.Hour)) {
		t.Errorf("after the rotation, there are %d keys (%v), or the first is not retired", len(keys), err)
	}
}

// The checksum covers whether a key is pending. If a pending key were used too early, other nodes
// would not find its tokens. If a key in use counted as pending, it would be replaced.
func TestTheChecksumCoversThePendingState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	first, err := CreateKeys(path, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeKeys(path, Announced(first, now)); err != nil {
		t.Fatal(err)
	}
	if keys, err := LoadKeys(path); err != nil || len(keys) != 2 || keys[0].Pending || !keys[1].Pending {
		t.Fatalf("the keys are %+v, %v", keys, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(b), `"pending"`, `"Qending"`, 1)
	if changed == string(b) {
		t.Fatalf("the file does not contain a pending key")
	}
	if _, err := ParseKeys(path, []byte(changed)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a pending key is read as a key in use: %v, want ErrMalformed", err)
	}
}

// A key with one wrong bit would silently make every token invalid.
func TestAnAlteredServerKeyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	keys, err := CreateKeys(path, now)
	if err != nil {
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
		got, err := LoadKeys(path)
		if err == nil && (len(got) != 1 || string(got[0].Material) != string(keys[0].Material) || got[0].Version != 1) {
			t.Errorf("with byte %d changed, another key is accepted", i)
		}
	}
}

func TestInvalidKeyFilesAreRefused(t *testing.T) {
	const good = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	for name, text := range map[string]string{
		"empty": "", "invalid JSON": "x", "no keys": `{"format":1,"keys":[]}`, "newer": `{"format":2,"keys":[{"version":1,"key":"` + good + `"}]}`,
		"no checksum": `{"format":1,"keys":[{"version":1,"key":"` + good + `"}]}`,
	} {
		path := filepath.Join(t.TempDir(), "keys.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeys(path); !errors.Is(err, ErrMalformed) || strings.Contains(err.Error(), "AAEC") {
			t.Errorf("the key file with %s: %v, want ErrMalformed", name, err)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeys(path); err == nil || !strings.Contains(err.Error(), "others can read") {
			t.Errorf("the readable key file with %s: %v", name, err)
		}
	}
}

// Unusable keys are refused, even with a correct checksum.
func TestInvalidKeysAreRefused(t *testing.T) {
	const good = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	for name, tc := range map[string]struct {
		keys []keyEntry
		ok   bool
	}{
		"one":              {[]keyEntry{{Version: 1, Key: good}}, true},
		"two":              {[]keyEntry{{Version: 1, Key: good}, {Version: 3, Key: good}}, true},
		"none":             {nil, false},
		"a short key":      {[]keyEntry{{Version: 1, Key: "AAEC"}}, false},
		"a long key":       {[]keyEntry{{Version: 1, Key: good + "AAEC"}}, false},
		"invalid base64":   {[]keyEntry{{Version: 1, Key: good[:42] + "!"}}, false},
		"version 0":        {[]keyEntry{{Key: good}}, false},
		"a double version": {[]keyEntry{{Version: 2, Key: good}, {Version: 2, Key: good}}, false},
		"another order":    {[]keyEntry{{Version: 2, Key: good}, {Version: 1, Key: good}}, false},
	} {
		c := keyFile{Format: keyFormat, Keys: tc.keys}
		c.Sum = c.sum()
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if keys, err := ParseKeys("keys.json", text); tc.ok && (err != nil || len(keys) != len(tc.keys)) || !tc.ok && !errors.Is(err, ErrMalformed) {
			t.Errorf("keys with %s: %v", name, err)
		}
	}
}

// A key file must be accessible by its owner only.
func TestKeyFilesReadableByOthersAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	if _, err := CreateKeys(path, now); err != nil {
		t.Fatal(err)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o620: false, 0o601: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKeys(path); (err == nil) != ok {
			t.Errorf("with the mode %o: %v", mode, err)
		}
	}
}

// A rotation does not modify the caller's keys.
func TestARotationDoesNotModifyTheCallersKeys(t *testing.T) {
	keys := Announced([]seal.Key{newKey(1, now)}, now)
	if used := Used(keys, now); !keys[1].Pending || used[1].Pending || !keys[0].RetiredAt.IsZero() || used[0].RetiredAt.IsZero() {
		t.Errorf("before the rotation %v, afterwards %v", keys, used)
	}
}
