package nodes

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"atelier/persistence/memory"
)

// If a secret file differs from the other nodes' secret, it is kept under another name. It can be
// the only copy of a key that a restored backup needs. A file that grows over time is not kept,
// because it can contain removed secrets.
func TestADifferingFileIsKeptUnderAnotherName(t *testing.T) {
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
		{"another file", "of another server", false, "of another server"},
		{"the same file", "of all nodes", false, ""},
		{"another file that grows", "of another server", true, ""},
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
			t.Errorf("%s: the file contains %q, %v", tc.name, now, err)
		}
		kept, err := os.ReadFile(path + ".before")
		if string(kept) != tc.kept || (tc.kept == "") != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the kept file contains %q, %v", tc.name, kept, err)
		}
	}
}

// A server that ran alone for some time has keys that the database lacks, and publishes its file. A
// node that also lacks these keys does not start, and its file stays unchanged.
func TestAFileWithNewerKeysIsPublished(t *testing.T) {
	newest := errors.New("the newest key is missing")
	for _, tc := range []struct {
		name, stored, own, meanwhile string
		want                         string // content of the database and the file; "" if refused
	}{
		{"the database has all", "1 2", "1", "", "1 2"},
		{"the file has all", "1", "1 2", "", "1 2"},
		{"neither has all", "1", "1 other", "", ""},
		{"no file", "1", "", "", ""},
		{"another node publishes them meanwhile", "1", "1 2", "1 2 3", "1 2 3"},
	} {
		store, stores := memory.Share(2)
		t.Cleanup(func() { _ = store.Close() })
		between := &meanwhile{Shared: stores[0]}
		k, err := OpenKeyring(between, "0123456789abcdef0123456789abcdef")
		if err != nil {
			t.Fatal(err)
		}
		was, err := k.Put("keys", Secret{}, []byte(tc.stored))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "keys")
		if tc.own != "" {
			if err := os.WriteFile(path, []byte(tc.own), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if tc.meanwhile != "" {
			between.do = func() {
				if _, err := k.Put("keys", was, []byte(tc.meanwhile)); err != nil {
					t.Error(err)
				}
			}
		}
		_, err = k.Bring(SharedFile{
			Name: "keys", Path: path, Lasting: true,
			Lacks: func(content []byte) error {
				if bytes.Contains(content, []byte("2")) {
					return nil
				}
				return newest
			},
		}, true, slog.New(slog.DiscardHandler))
		stored, failed := k.Get("keys")
		own, _ := os.ReadFile(path)
		switch {
		case failed != nil:
			t.Error(failed)
		case tc.want != "" && (err != nil || string(stored.Content) != tc.want || string(own) != tc.want):
			t.Errorf("%s: the database has %q, the file %q: %v", tc.name, stored.Content, own, err)
		case tc.want == "" && (!errors.Is(err, newest) || string(stored.Content) != tc.stored || string(own) != tc.own):
			t.Errorf("%s: the database has %q, the file %q: %v", tc.name, stored.Content, own, err)
		}
	}
}

// The first node of a database creates a missing key. If data needs the key, a new key would hide
// that the data cannot be read.
func TestAMissingFileIsCreatedOnlyIfNoDataNeedsIt(t *testing.T) {
	for _, tc := range []struct {
		name         string
		used, agreed bool
		there        bool
		made         bool
		ok           bool
	}{
		{name: "a new database", made: true, ok: true},
		{name: "data needs it", used: true},
		{name: "the nodes have agreed on one", agreed: true},
		{name: "data needs it, and it exists", used: true, agreed: true, there: true, ok: true},
	} {
		store, stores := memory.Share(1)
		t.Cleanup(func() { _ = store.Close() })
		k, err := OpenKeyring(stores[0], "0123456789abcdef0123456789abcdef")
		if err != nil {
			t.Fatal(err)
		}
		n := &Node{}
		n.Store = stores[0]
		if tc.agreed {
			if err := n.Agree("secrets/key", "an earlier one"); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), "a.key")
		write := func(content string) error { return os.WriteFile(path, []byte(content), 0o600) }
		if tc.there {
			if err := write("the key"); err != nil {
				t.Fatal(err)
			}
		}
		made, err := k.Bring(SharedFile{Name: "key", Path: path, Lasting: true, Load: func() (bool, error) {
			if tc.there {
				return false, nil
			}
			return true, write("the key")
		}}, tc.used, slog.New(slog.DiscardHandler))
		if made != tc.made || (err == nil) != tc.ok {
			t.Errorf("%s: made %v, %v", tc.name, made, err)
		}
		s, err := k.Get("key")
		if kept := string(s.Content) == "the key"; err != nil || kept != tc.ok {
			t.Errorf("%s: the database has %q, %v", tc.name, s.Content, err)
		}
		if _, err := os.Stat(path); (err == nil) != tc.ok {
			t.Errorf("%s: the state of the file: %v", tc.name, err)
		}
	}
}
