package trees_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"atelier/actors/code"
	"atelier/persistence/objects/objectstest"
	"atelier/persistence/objects/trees"
)

// folders unpacks a repository and plain folders as earlier versions kept them.
func folders(t *testing.T) string {
	t.Helper()
	f, err := os.Open("testdata/folders.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var content []byte
			if content, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(path, content, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

const plainID = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2c02"

var (
	placed = map[code.Kind]struct{ id, first, second string }{
		code.Git:   {id, "8d4b6c6a059b6976ecd046d4cc28ed29a2748892", "ddca832612b3c87dc16af6de3544bdaee0477b36"},
		code.Plain: {plainID, "f582501d291f0347972c02ed0a04170c", "c606417b9640bf02a30b431e19b1a4e0"},
	}
	inFirst  = []string{"a", "1", "dir/b", "2", "same+x", "1", "logo 1+x", "\x00\xff", "x", "8"}
	inSecond = []string{"dir/b", "-", "same", "9", "x+x", "8", "c", "333"}
)

func TestFoldersOfEarlierVersionsArePlaced(t *testing.T) {
	objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
		dir := folders(t)
		for range 2 { // as after a crash
			if sound, err := trees.PlaceFolders(t.Context(), b, dir, slog.New(slog.DiscardHandler)); err != nil || !sound {
				t.Fatal(sound, err)
			}
		}
		s := node(t, b)
		for kind, p := range placed {
			// Written here, a commit has the same hash, and a tree the same files.
			other := alone(t, kind)
			first := write(t, other, kind, "", inFirst...)
			second := write(t, other, kind, first, inSecond...)
			if kind == code.Git && (first != p.first || second != p.second) {
				t.Errorf("commits are %s and %s", first, second)
			}
			for was, is := range map[string]string{p.first: first, p.second: second} {
				infos, err := s.Describe(p.id, kind, was)
				want, err2 := other.Describe(id, kind, is)
				if err := errors.Join(err, err2); err != nil || len(infos) != len(want) {
					t.Fatalf("%s: %v, want %v, %v", kind, infos, want, err)
				}
				for i, info := range infos {
					got, _, err := s.Read(p.id, kind, was, info.Path)
					content, _, err2 := other.Read(id, kind, is, info.Path)
					if err := errors.Join(err, err2); err != nil || info != want[i] || string(got) != string(content) {
						t.Errorf("%s: %v is %q, want %v %q, %v", kind, info, got, want[i], content, err)
					}
				}
			}
			heads := []code.Head{{Name: "main", Tree: p.first}, {Name: "step-1-end", Tree: p.second}}
			var bad []string
			if _, err := s.Scrub(map[string]code.Recorded{p.id: {Kind: kind, Heads: heads}}, func(what string) { bad = append(bad, what) }); err != nil || bad != nil {
				t.Errorf("%s: damaged is %q, %v", kind, bad, err)
			}
		}
	})
}

func TestDamageOfEarlierVersionsStaysDamage(t *testing.T) {
	for name, hurt := range map[string]struct {
		file string
		kind code.Kind
	}{
		"an object":      {id + "/repository/objects/f1/1c82a4cb6cc2e8f3bdf52b5cdeaad4d5bb214e", code.Git},
		"the sums":       {plainID + "/sums/c606417b9640bf02a30b431e19b1a4e0", code.Plain},
		"a file":         {plainID + "/trees/c606417b9640bf02a30b431e19b1a4e0/a", code.Plain},
		"a missing file": {plainID + "/trees/c606417b9640bf02a30b431e19b1a4e0/c", code.Plain},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folders(t)
			path := filepath.Join(dir, hurt.file)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if name == "a missing file" {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, content[:len(content)/2], 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			b := objectstest.Folder(t)
			if sound, err := trees.PlaceFolders(t.Context(), b, dir, slog.New(slog.DiscardHandler)); err != nil || sound {
				t.Fatalf("it is placed as sound: %v", err)
			}
			p := placed[hurt.kind]
			var bad []string
			recorded := map[string]code.Recorded{p.id: {Kind: hurt.kind, Heads: []code.Head{{Name: "main", Tree: p.second}}}}
			if _, err := node(t, b).Scrub(recorded, func(what string) { bad = append(bad, what) }); err != nil || bad == nil {
				t.Errorf("scrub finds nothing, %v", err)
			}
		})
	}
}
