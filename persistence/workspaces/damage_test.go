package workspaces

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"atelier/actors/code"
)

// hurt changes the one stored file, in a folder of the workspace, that fits.
func hurt(t *testing.T, s *Store, folder string, fits func(path string, content []byte) bool, change func(b []byte) []byte) {
	t.Helper()
	done := 0
	err := filepath.WalkDir(filepath.Join(s.dir, id, folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !fits(path, b) {
			return err
		}
		done++
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		return os.WriteFile(path, change(b), 0o600)
	})
	if err != nil || done != 1 {
		t.Fatalf("changed %d files, %v", done, err)
	}
}

func flip(b []byte) []byte { b[len(b)/2] ^= 1; return b }
func cut(b []byte) []byte  { return b[:len(b)-1] }

// TestDamagedCodeIsNotServed: a plain file with a flipped byte, or cut short,
// was served as if nothing were wrong.
func TestDamagedCodeIsNotServed(t *testing.T) {
	for _, kind := range kinds {
		for name, damage := range map[string]func([]byte) []byte{"flipped": flip, "cut": cut} {
			t.Run(string(kind)+" "+name, func(t *testing.T) {
				s := newWorkspace(t, kind)
				damaged := 0
				s.damaged = func() { damaged++ }
				text := strings.Repeat("some text ", 50)
				tree, err := s.Write(id, kind, "", change("a.txt", text, "dir/b.txt", "sound"))
				if err != nil {
					t.Fatal(err)
				}
				folder, fits := treesFolder, func(path string, _ []byte) bool { return filepath.Base(path) == "a.txt" }
				if kind == code.Git {
					folder = gitFolder + "/objects"
					want := plumbing.ComputeHash(plumbing.BlobObject, []byte(text)).String()
					fits = func(path string, _ []byte) bool { return filepath.Base(filepath.Dir(path))+filepath.Base(path) == want }
				}
				hurt(t, s, folder, fits, damage)
				if b, _, err := s.Read(id, kind, tree, "a.txt"); !errors.Is(err, ErrDamaged) || damaged != 1 {
					t.Errorf("read %d bytes, %v; counted %d", len(b), err, damaged)
				}
				if b, _, err := s.Read(id, kind, tree, "dir/b.txt"); string(b) != "sound" || err != nil {
					t.Errorf("the other one: %q, %v", b, err)
				}
				if _, _, err := s.Read(id, kind, tree, "none"); !errors.Is(err, code.ErrNotFound) {
					t.Errorf("one that never was: %v", err)
				}
				if _, _, err := s.Pack(id, kind, []code.Head{{Name: "main", Tree: tree}}, at); err == nil {
					t.Error("packed")
				}
				var found []string
				n, err := s.Scrub(map[string]code.Recorded{id: {Kind: kind}}, func(what string) { found = append(found, what) })
				if n < 2 || err != nil || len(found) != 1 {
					t.Errorf("scrubbing %d found %q, %v", n, found, err)
				}
			})
		}
	}
}

// TestAMissingOrForeignPlainFileIsDamage: the sums say what a tree holds.
func TestAMissingOrForeignPlainFileIsDamage(t *testing.T) {
	s := newWorkspace(t, code.Plain)
	tree, err := s.Write(id, code.Plain, "", change("a", "1", "b", "2"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(s.dir, id, treesFolder, tree)
	if err := errors.Join(os.Remove(filepath.Join(folder, "a")), os.WriteFile(filepath.Join(folder, "c"), []byte("3"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{"a": ErrDamaged, "b": nil, "c": ErrDamaged} {
		if _, _, err := s.Read(id, code.Plain, tree, path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := s.Write(id, code.Plain, tree, change("d", "4")); !errors.Is(err, ErrDamaged) {
		t.Errorf("the loss became the new state: %v", err)
	}
	var found []string
	if _, err := s.Scrub(map[string]code.Recorded{id: {Kind: code.Plain}}, func(what string) { found = append(found, what) }); err != nil || len(found) != 2 {
		t.Errorf("scrubbing found %q, %v", found, err)
	}
	hurt(t, s, sumsFolder, func(string, []byte) bool { return true }, flip)
	if _, _, err := s.Read(id, code.Plain, tree, "b"); !errors.Is(err, ErrDamaged) {
		t.Errorf("with damaged sums: %v", err)
	}
}

// TestAMissingWorkspaceIsFound by whoever looks.
func TestAMissingWorkspaceIsFound(t *testing.T) {
	for _, kind := range kinds {
		s := newWorkspace(t, kind)
		if err := os.RemoveAll(filepath.Join(s.dir, id)); err != nil {
			t.Fatal(err)
		}
		var found []string
		if _, err := s.Scrub(map[string]code.Recorded{id: {Kind: kind}}, func(what string) { found = append(found, what) }); err != nil || len(found) != 1 {
			t.Errorf("%s: scrubbing found %q, %v", kind, found, err)
		}
	}
}

// TestSumsGoOnFromTreeToTree: a file that a tree takes over keeps its sum, so
// damage is not passed on as if it had been written so; trees from before
// there were sums get theirs with the next change.
func TestSumsGoOnFromTreeToTree(t *testing.T) {
	s := newWorkspace(t, code.Plain)
	old, err := s.Write(id, code.Plain, "", change("kept", "k", "hurt", "h"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, id, sumsFolder)); err != nil {
		t.Fatal(err)
	}
	if b, _, err := s.Read(id, code.Plain, old, "kept"); string(b) != "k" || err != nil {
		t.Fatalf("a tree without sums: %q, %v", b, err)
	}
	second, err := s.Write(id, code.Plain, old, change("new", "n"))
	if err != nil {
		t.Fatal(err)
	}
	hurt(t, s, filepath.Join(treesFolder, second), func(path string, _ []byte) bool { return filepath.Base(path) == "hurt" }, flip)
	third, err := s.Write(id, code.Plain, second, change("new", "n2"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{"kept": nil, "new": nil, "hurt": ErrDamaged} {
		if _, _, err := s.Read(id, code.Plain, third, path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := s.Publish(id, code.Plain, []code.Head{{Name: "main", Tree: third}}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(s.dir, id, sumsFolder))
	if err != nil || len(left) != 1 || left[0].Name() != third {
		t.Errorf("sums of %v, %v", left, err)
	}
}

// TestEverySyncOfATreeIsInItsPlace: when a change is answered, everything that
// it wrote, and every name that leads to it, was synced after it was there.
func TestEverySyncOfATreeIsInItsPlace(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			s := newStore(t)
			synced := map[string]int{} // path to the place in the order
			n := 0
			s.syncer.told = func(path string) { n++; synced[path] = n }
			check := func(what string) {
				t.Helper()
				err := filepath.WalkDir(filepath.Join(s.dir, id), func(path string, e fs.DirEntry, err error) error {
					if err != nil {
						return err
					}
					name, _ := filepath.Rel(s.dir, path)
					// The file itself, or the temporary one it was renamed from.
					if e.Type().IsRegular() && synced[path] == 0 && !slices.ContainsFunc(keys(synced), func(p string) bool {
						return filepath.Base(p) == e.Name() || strings.Contains(filepath.Base(p), "tmp_obj")
					}) {
						t.Errorf("%s: %s was not synced", what, name)
					}
					// Its name: the folder it lies in, or the whole workspace
					// when that had its last name only later.
					if parent := filepath.Dir(path); synced[parent] == 0 && !slices.ContainsFunc(keys(synced), func(p string) bool {
						return filepath.Base(p) == filepath.Base(parent) || strings.HasPrefix(filepath.Base(parent), id) && strings.Contains(p, tempPrefix)
					}) {
						t.Errorf("%s: the folder of %s was not synced", what, name)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Make(id, kind); err != nil {
				t.Fatal(err)
			}
			if synced[s.dir] == 0 {
				t.Error("the name of the workspace was not synced")
			}
			check("making")
			tree, err := s.Write(id, kind, "", change("a.txt", "1", "dir/b.txt", "2"))
			if err != nil {
				t.Fatal(err)
			}
			check("writing")
			// A folder gets its name behind everything in it, and that is synced last.
			if trees := filepath.Join(s.dir, id, treesFolder); kind == code.Plain && slices.Max(slices.Collect(maps.Values(synced))) != synced[trees] {
				t.Error("the name of the new tree was not synced last")
			}
			// What is there already may have been left unsynced by a crash.
			clear(synced)
			if kind == code.Git {
				if _, err := s.Write(id, kind, "", change("a.txt", "1", "dir/b.txt", "2")); err != nil {
					t.Fatal(err)
				}
				if len(synced) == 0 {
					t.Error("objects that were there already were not synced")
				}
			}
			_ = tree
		})
	}
}

func keys(m map[string]int) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// remove takes away the one stored file that fits.
func remove(t *testing.T, s *Store, folder string, fits func(path string) bool) {
	t.Helper()
	done := 0
	err := filepath.WalkDir(filepath.Join(s.dir, id, folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !fits(path) {
			return err
		}
		done++
		return os.Remove(path)
	})
	if err != nil || done != 1 {
		t.Fatalf("removed %d files, %v", done, err)
	}
}

// is fits the loose object with this hash.
func is(hash string) func(string) bool {
	return func(path string) bool { return filepath.Base(filepath.Dir(path))+filepath.Base(path) == hash }
}

// Content that is sent again takes the place of a damaged object with the same
// hash: it was answered with success and stayed unreadable.
func TestWritingAgainRepairsADamagedObject(t *testing.T) {
	s := newWorkspace(t, code.Git)
	text := strings.Repeat("some text ", 50)
	first := s.must(t, code.Git, "", "a", text, "dir/b", "2")
	blob := plumbing.ComputeHash(plumbing.BlobObject, []byte(text)).String()
	hurt(t, s, gitFolder+"/objects", func(path string, _ []byte) bool { return is(blob)(path) }, flip)
	if _, _, err := s.Read(id, code.Git, first, "a"); !errors.Is(err, ErrDamaged) {
		t.Fatalf("the object is not damaged: %v", err)
	}
	second := s.must(t, code.Git, "", "a", text, "dir/b", "2", "c", "3")
	for _, tree := range []string{first, second} {
		if b, _, err := s.Read(id, code.Git, tree, "a"); err != nil || string(b) != text {
			t.Errorf("%s: read %d bytes, %v", tree, len(b), err)
		}
	}
	aside, err := filepath.Glob(filepath.Join(s.dir, id, gitFolder, damagedPrefix+"*"))
	if err != nil || len(aside) != 1 {
		t.Errorf("aside are %v, %v", aside, err)
	}
}

// What a codelab has recorded and is not there is damage, which scrub finds: it
// was answered with 404, and scrub knew nothing of it.
func TestWhatIsMissingIsDamage(t *testing.T) {
	for _, kind := range kinds {
		s := newWorkspace(t, kind)
		first := s.must(t, kind, "", "a", "1", "dir/b", "2")
		head := s.must(t, kind, first, "c", "3")
		scrub := func() (found []string) {
			heads := []code.Head{{Name: "main", Tree: head}}
			if _, err := s.Scrub(map[string]code.Recorded{id: {Kind: kind, Heads: heads}}, func(what string) { found = append(found, what) }); err != nil {
				t.Fatal(err)
			}
			return found
		}
		if found := scrub(); found != nil {
			t.Fatalf("%s: a sound workspace has %q", kind, found)
		}
		damaged := 0
		s.damaged = func() { damaged++ }
		if kind == code.Plain {
			if err := os.RemoveAll(filepath.Join(s.dir, id, treesFolder, head)); err != nil {
				t.Fatal(err)
			}
		} else {
			remove(t, s, gitFolder+"/objects", is(plumbing.ComputeHash(plumbing.BlobObject, []byte("2")).String()))
		}
		if found := scrub(); len(found) == 0 {
			t.Errorf("%s: scrub finds nothing", kind)
		}
		damaged = 0
		_, _, err := s.Read(id, kind, head, "dir/b")
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, code.ErrMissing) || damaged != 1 {
			t.Errorf("%s: reading gives %v, counted %d", kind, err, damaged)
		}
		_, err = s.Write(id, kind, head, change("d", "4"))
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, code.ErrMissing) {
			t.Errorf("%s: writing gives %v", kind, err)
		}
		if _, _, err := s.Read(id, kind, first, "none"); !errors.Is(err, code.ErrNotFound) || errors.Is(err, code.ErrMissing) {
			t.Errorf("%s: a file that never was gives %v", kind, err)
		}
	}
}

// The history of a repository is downloaded, so all of it must be there.
func TestAMissingCommitOfTheHistoryIsFound(t *testing.T) {
	for _, what := range []string{"commit", "tree", "blob"} {
		s := newWorkspace(t, code.Git)
		first := s.must(t, code.Git, "", "dir/a", "1")
		head := s.must(t, code.Git, first, "dir/a", "2")
		g, err := s.open(id, code.Git)
		if err != nil {
			t.Fatal(err)
		}
		c, err := g.(*repository).commit(first)
		if err != nil {
			t.Fatal(err)
		}
		gone := map[string]string{"commit": first, "tree": c.TreeHash.String(), "blob": plumbing.ComputeHash(plumbing.BlobObject, []byte("1")).String()}[what]
		_ = g.close()
		remove(t, s, gitFolder+"/objects", is(gone))
		var found []string
		heads := []code.Head{{Name: "main", Tree: head}}
		if _, err := s.Scrub(map[string]code.Recorded{id: {Kind: code.Git, Heads: heads}}, func(what string) { found = append(found, what) }); err != nil || len(found) != 1 {
			t.Errorf("without a %s scrub finds %q, %v", what, found, err)
		}
	}
}
