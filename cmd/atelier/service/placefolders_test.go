package service

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/actors/code"
	"atelier/cmd/atelier/config"
	"atelier/persistence/objects/folder"
	"atelier/persistence/objects/trees"
)

// Remains of moved folders are not moved again: half of a workspace would look damaged, and
// replace the complete one.
func TestWhatIsLeftOfMovedFoldersIsNoDamage(t *testing.T) {
	cfg := config.Default()
	cfg.Server.Data = t.TempDir()
	old := filepath.Join(cfg.Server.Data, codeFolder)
	const id, tree = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2c02", "c606417b9640bf02a30b431e19b1a4e0"
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(old, id, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("trees/"+tree+"/a", "1")
	if err := os.Mkdir(filepath.Join(cfg.Server.Data, objectFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	to, err := folder.Open(folder.Options{Dir: filepath.Join(cfg.Server.Data, objectFolder), MinFreeBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	quiet := slog.New(slog.DiscardHandler)
	moved := func() string {
		t.Helper()
		if err := placeFolders(cfg, to, quiet); err != nil {
			t.Fatal(err)
		}
		s, err := trees.Open(trees.Options{Objects: to, Dir: t.TempDir(), Alone: true})
		if err != nil {
			t.Fatal(err)
		}
		content, _, err := s.Read(id, code.Plain, tree, "a")
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	left := func() (names []string) {
		t.Helper()
		found, err := filepath.Glob(old + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			names = append(names, filepath.Base(path))
		}
		return names
	}
	if got := moved(); got != "1" || left() != nil {
		t.Errorf("moved is %q, left is %q", got, left())
	}
	// A crash while they are removed.
	put("trees/"+tree+"/b", "2")
	if err := os.Rename(old, old+".placed"); err != nil {
		t.Fatal(err)
	}
	if got := moved(); got != "1" || left() != nil {
		t.Errorf("after a crash it is %q, left is %q", got, left())
	}
	// Damaged ones are kept for who can read more of them.
	put("trees/"+tree+"/a", "1")
	put("sums/"+tree, strings.Repeat("x", 10))
	if err := placeFolders(cfg, to, quiet); err != nil {
		t.Fatal(err)
	}
	if got := left(); len(got) != 1 || got[0] != codeFolder+".damaged" {
		t.Errorf("of damaged ones left is %q", got)
	}
}
