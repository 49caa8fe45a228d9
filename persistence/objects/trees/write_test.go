package trees_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier/actors/code"
	"atelier/persistence/objects/objectstest"
	"atelier/persistence/objects/trees"
)

// alone returns a store that no other process uses. The store has one workspace.
func alone(t testing.TB, kind code.Kind) *trees.Store {
	t.Helper()
	s, err := trees.Open(trees.Options{Objects: objectstest.Folder(t).Store, Dir: t.TempDir(), Alone: true})
	if err == nil {
		err = s.Make(id, kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAFileKeepsItsModeUntilItIsChanged(t *testing.T) {
	for _, kind := range kinds {
		s := alone(t, kind)
		one := write(t, s, kind, "", "a b+x", "1", "plain", "1", "same", "1")
		two := write(t, s, kind, one, "a b", "2", "plain+x", "1")
		regular := change("a b", "2")
		regular.Write[0].Mode = code.Regular
		three, err := s.Write(id, kind, two, regular)
		if err != nil {
			t.Fatal(err)
		}
		again := change("a b", "3")
		again.Delete = []string{"plain"}
		again.Write = append(again.Write, code.File{Path: "plain", Content: []byte("4")}) // a new file
		four, err := s.Write(id, kind, three, again)
		if err != nil {
			t.Fatal(err)
		}
		for tree, want := range map[string]string{
			one: "a b+x=1 plain=1 same=1", two: "a b+x=2 plain+x=1 same=1", three: "a b=2 plain+x=1 same=1", four: "a b=3 plain=4 same=1",
		} {
			if got := content(t, s, kind, tree); got != want {
				t.Errorf("%s: the tree is %q, want %q", kind, got, want)
			}
		}
	}
}

func TestAnInvalidChangeIsRefusedAsAWhole(t *testing.T) {
	for _, kind := range kinds {
		b := objectstest.Folder(t)
		s := node(t, b)
		if err := s.Make(id, kind); err != nil {
			t.Fatal(err)
		}
		base := write(t, s, kind, "", "a", "1", "dir/b", "2", "Straße", "3")
		before := b.Keys(t, "")
		for _, bad := range [][]string{
			{"ok", "x", "../evil", "x"}, {"ok", "x", ".GIT/config", "x"}, {"ok", "x", "ok", "y"}, {"a/b", "x"}, {"dir", "x"},
			{"A", "x"}, {"DIR/c", "x"}, {"dir/B", "x"}, {"STRASSE", "x"}, {"ok", "x", "OK", "y"}, {"e\u0301", "x", "\u00e9", "y"}, {"../a", "-"}, {"big", strings.Repeat("x", code.MaxFile+1)},
		} {
			var p *code.Problem
			if _, err := s.Write(id, kind, base, change(bad...)); !errors.As(err, &p) {
				t.Errorf("%s: writing %.60q: %v", kind, bad, err)
			}
		}
		if _, err := s.Write(id, kind, base, change("no", "-")); !errors.Is(err, code.ErrNotFound) {
			t.Errorf("%s: deleting a missing file: %v, want ErrNotFound", kind, err)
		}
		var many []string
		for i := range code.MaxFiles + 1 {
			many = append(many, fmt.Sprint(i), "")
		}
		var p *code.Problem
		if _, err := s.Write(id, kind, base, change(many...)); !errors.As(err, &p) {
			t.Errorf("%s: too many files: %v", kind, err)
		}
		if after := b.Keys(t, ""); !slices.Equal(after, before) {
			t.Errorf("%s: the refused change left objects: %q, before %q", kind, after, before)
		}
	}
}

func TestWritersOfDifferentBranchesDoNotMix(t *testing.T) {
	for _, kind := range kinds {
		s := alone(t, kind)
		first := write(t, s, kind, "", "shared", "x")
		heads := make([]code.Head, 8)
		var wg sync.WaitGroup
		for i := range heads {
			wg.Go(func() {
				tree := first
				for n := range 10 {
					unlock := s.Lock(id)
					var err error
					tree, err = s.Write(id, kind, tree, change(fmt.Sprintf("of-%d/%d", i, n), fmt.Sprint(i, n)))
					unlock()
					if err != nil {
						t.Error(err)
						return
					}
				}
				heads[i] = code.Head{Name: fmt.Sprintf("branch-%d", i), Tree: tree}
			})
		}
		wg.Wait()
		if err := s.Publish(id, kind, heads); err != nil {
			t.Fatal(err)
		}
		for i, h := range heads {
			paths, err := s.List(id, kind, h.Tree)
			if err != nil || len(paths) != 11 || slices.ContainsFunc(paths, func(p string) bool {
				return p != "shared" && !strings.HasPrefix(p, fmt.Sprintf("of-%d/", i))
			}) {
				t.Errorf("%s: branch %d contains %v %v", kind, i, paths, err)
			}
		}
	}
}

func FuzzWrite(f *testing.F) {
	// Package code tests the rules for paths. These are a few examples of each rule.
	for _, p := range []string{
		"a", "", "/etc/passwd", "../evil", "a/../b", "dir", "dir/b", "DIR/B", "a/x", "a\\b", "a\x00b", ".git/config", ".GIT", "git~1/x", ".g\u200cit/x",
		".gitignore", "a b/ä/한글.txt", "...", "-x", "con", strings.Repeat("x", 256), strings.Repeat("a/", 512) + "a",
	} {
		f.Add(p, "x", false)
		f.Add("a", p, true)
	}
	stores := map[code.Kind]code.Store{}
	bases := map[code.Kind]string{}
	for _, kind := range kinds {
		stores[kind] = alone(f, kind)
		bases[kind] = write(f, stores[kind], kind, "", "a", "1", "dir/b", "2")
	}
	f.Fuzz(func(t *testing.T, one, two string, remove bool) {
		c := code.Change{Write: []code.File{{Path: one, Content: []byte("1")}, {Path: two, Content: []byte("2")}}, At: at}
		if remove {
			c.Delete = []string{two}
		}
		for kind, s := range stores {
			tree, err := s.Write(id, kind, bases[kind], c)
			var p *code.Problem
			if err != nil {
				if !errors.As(err, &p) && !errors.Is(err, code.ErrNotFound) {
					t.Errorf("%s: writing %q and %q: %v, want a Problem or ErrNotFound", kind, one, two, err)
				}
				continue
			}
			for _, w := range c.Write {
				if b, _, err := s.Read(id, kind, tree, w.Path); err != nil || !bytes.Equal(b, w.Content) {
					t.Errorf("%s: %q reads as %q %v", kind, w.Path, b, err)
				}
			}
		}
	})
}

func TestNothingIsWrittenWhileTheStoreIsReadOnly(t *testing.T) {
	shut := errors.New("read-only")
	b := objectstest.Folder(t)
	s, err := trees.Open(trees.Options{Objects: b, Dir: t.TempDir(), Gate: func() error { return shut }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Make(id, code.Git); !errors.Is(err, shut) {
		t.Errorf("make: %v", err)
	}
	if err := node(t, b).Make(id, code.Git); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(id, code.Git, "", change("a", "1")); !errors.Is(err, shut) {
		t.Errorf("write: %v", err)
	}
	if _, err := s.Receive(id, nil, nil, push{}); !errors.Is(err, shut) {
		t.Errorf("receive: %v", err)
	}
	if err := s.Copy(id, strings.Replace(id, "0", "1", 1), code.Git, nil); !errors.Is(err, shut) {
		t.Errorf("copy: %v", err)
	}
}

// If no other process uses the objects, Publish removes the trees that no head needs, because old
// plain trees would fill the disk. During a backup these trees stay.
func TestPublishRemovesTreesThatNoHeadNeeds(t *testing.T) {
	s := alone(t, code.Plain)
	one := write(t, s, code.Plain, "", "a", "1")
	two := write(t, s, code.Plain, one, "b", "2")
	three := write(t, s, code.Plain, two, "a", "3", "b", "4")
	publish := func(tree string) {
		t.Helper()
		if err := s.Publish(id, code.Plain, []code.Head{{Name: "main", Tree: tree}}); err != nil {
			t.Fatal(err)
		}
	}
	release, err := s.Hold()
	if err != nil {
		t.Fatal(err)
	}
	publish(three)
	release()
	if got := content(t, s, code.Plain, two); got != "a=1 b=2" {
		t.Errorf("during a backup, the tree is %q", got)
	}
	publish(two)
	if got := content(t, s, code.Plain, two); got != "a=1 b=2" {
		t.Errorf("after the trees that no head needs were removed, the tree is %q", got)
	}
	if _, err := s.List(id, code.Plain, three); !errors.Is(err, code.ErrMissing) {
		t.Errorf("a tree that no head needs: %v, want ErrMissing", err)
	}
	last := write(t, s, code.Plain, two, "a", "5", "b", "6")
	publish(last)
	for _, gone := range []string{one, two} {
		if _, err := s.List(id, code.Plain, gone); !errors.Is(err, code.ErrMissing) {
			t.Errorf("a tree whose contents no head needs any more: %v, want ErrMissing", err)
		}
	}
	if got := content(t, s, code.Plain, last); got != "a=5 b=6" {
		t.Errorf("the published tree is %q", got)
	}
	git := alone(t, code.Git)
	first := write(t, git, code.Git, "", "a", "1")
	second := write(t, git, code.Git, first, "a", "2")
	if err := git.Publish(id, code.Git, []code.Head{{Name: "main", Tree: second}}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, git, code.Git, first); got != "a=1" {
		t.Errorf("the first commit of the repository is %q", got)
	}
}
