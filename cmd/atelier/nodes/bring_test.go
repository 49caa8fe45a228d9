package nodes

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"atelier/persistence/memory"
)

// A secret file that differs from the secret of the other nodes can be the only copy of a key
// that a restored backup needs, so it is kept under another name. One that grows is not kept,
// because it may hold secrets that were removed.
func TestAFileThatDiffersIsKept(t *testing.T) {
	store, stores := memory.Share(1)
	t.Cleanup(func() { _ = store.Close() })
	k, err := OpenKeyring(stores[0], "0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Put("key", Secret{}, []byte("of all nodes")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, own string
		grows     bool
		kept      string
	}{
		{"another one", "of another server", false, "of another server"},
		{"the same one", "of all nodes", false, ""},
		{"another one that grows", "of another server", true, ""},
	} {
		path := filepath.Join(t.TempDir(), "a.key")
		if err := os.WriteFile(path, []byte(tc.own), 0o600); err != nil {
			t.Fatal(err)
		}
		f := SharedFile{Name: "key", Path: path, Lasting: true, Load: func() (bool, error) { return false, nil }}
		if tc.grows {
			f.Lacks = func([]byte) error { return nil }
		}
		if made, err := k.Bring(f, true, slog.New(slog.DiscardHandler)); made || err != nil {
			t.Errorf("%s: made %v, %v", tc.name, made, err)
		}
		if now, err := os.ReadFile(path); string(now) != "of all nodes" {
			t.Errorf("%s: the file holds %q, %v", tc.name, now, err)
		}
		kept, err := os.ReadFile(path + ".before")
		if string(kept) != tc.kept || (tc.kept == "") != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: kept is %q, %v", tc.name, kept, err)
		}
	}
}
