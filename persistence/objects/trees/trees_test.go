package trees_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/actors/code"
	"atelier/actors/durable"
	"atelier/persistence/objects"
	"atelier/persistence/objects/objectstest"
	"atelier/persistence/objects/trees"
)

const id = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2c01"

var (
	kinds = []code.Kind{code.Git, code.Plain}
	at    = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

func node(t testing.TB, b objects.Store) *trees.Store {
	t.Helper()
	s, err := trees.Open(trees.Options{Objects: b, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func change(files ...string) code.Change {
	c := code.Change{Message: "change", Author: "Ada <x>\n", At: at}
	for i := 0; i < len(files); i += 2 {
		if files[i+1] == "-" {
			c.Delete = append(c.Delete, files[i])
		} else {
			path, executable := strings.CutSuffix(files[i], "+x")
			f := code.File{Path: path, Content: []byte(files[i+1])}
			if executable {
				f.Mode = code.Executable
			}
			c.Write = append(c.Write, f)
		}
	}
	return c
}

func write(t testing.TB, s code.Store, kind code.Kind, base string, files ...string) string {
	t.Helper()
	tree, err := s.Write(id, kind, base, change(files...))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func content(t testing.TB, s code.Store, kind code.Kind, tree string) string {
	t.Helper()
	infos, err := s.Describe(id, kind, tree)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var paths []string
	for _, info := range infos {
		paths = append(paths, info.Path)
		c, about, err := s.Read(id, kind, tree, info.Path)
		if err != nil {
			t.Fatal(err)
		}
		if about != info || info.Size != int64(len(c)) || info.Binary != code.Binary(c) {
			t.Errorf("%s: Describe returned %v, but Read returned %v", info.Path, info, about)
		}
		sign := map[code.Mode]string{code.Regular: "=", code.Executable: "+x="}[info.Mode]
		fmt.Fprintf(&b, "%s%s%s ", info.Path, sign, c)
	}
	if listed, err := s.List(id, kind, tree); err != nil || !slices.Equal(listed, paths) {
		t.Errorf("the listed paths are %q %v, the described paths %q", listed, err, paths)
	}
	return strings.TrimSpace(b.String())
}

// each runs a test with each kind of store and a new workspace of each kind.
func each(t *testing.T, test func(t *testing.T, b *objectstest.Backend, kind code.Kind)) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
				if err := node(t, b).Make(id, kind); err != nil {
					t.Fatal(err)
				}
				test(t, b, kind)
			})
		})
	}
}

// A tree never changes, and is the same on every node.
func TestATreeNeverChanges(t *testing.T) {
	each(t, func(t *testing.T, b *objectstest.Backend, kind code.Kind) {
		s := node(t, b)
		last := ""
		for i, step := range []struct {
			files []string
			want  string
		}{
			{nil, ""},
			{[]string{"a", "1", "b/c/d", "2", "b/ä.txt", ""}, "a=1 b/c/d=2 b/ä.txt="},
			{[]string{"a", "changed", "b/c/d", "-", "new", "3"}, "a=changed b/ä.txt= new=3"},
			{[]string{"b/ä.txt", "-", "b", "now a file"}, "a=changed b=now a file new=3"},
		} {
			before := len(b.Keys(t, ""))
			last = write(t, s, kind, last, step.files...)
			if n := len(b.Keys(t, "")) - before; n != 1 {
				t.Errorf("a tree consists of %d objects", n)
			}
			for _, reader := range []*trees.Store{s, node(t, b)} {
				if got := content(t, reader, kind, last); got != step.want {
					t.Errorf("change %d: the tree is %q, want %q", i, got, step.want)
				}
			}
		}
		for _, path := range []string{"no", "b/c", "a/b"} {
			if _, _, err := s.Read(id, kind, last, path); !errors.Is(err, code.ErrNotFound) {
				t.Errorf("reading %s: %v, want ErrNotFound", path, err)
			}
		}
		for _, tree := range []string{"", "x", "..", "../../../x", strings.Repeat("0", 32), strings.Repeat("0", 40)} {
			if _, err := s.List(id, kind, tree); !errors.Is(err, code.ErrNotFound) {
				t.Errorf("listing the tree %q: %v, want ErrNotFound", tree, err)
			}
		}
		for _, bad := range []string{"..", "", "../../holds", strings.Repeat("a", 36)} {
			if _, err := s.Write(bad, kind, "", change("a", "1")); !errors.Is(err, code.ErrNotFound) {
				t.Errorf("writing to the workspace %q: %v, want ErrNotFound", bad, err)
			}
		}
		var p *code.Problem
		if _, err := s.Write(id, kind, last, change("../evil", "x")); !errors.As(err, &p) {
			t.Errorf("writing outside the workspace: %v", err)
		}
	})
}

// Damage is detected in any part of an object.
func TestDamagedCodeIsNotServed(t *testing.T) {
	for name, hurt := range map[string]func([]byte) []byte{
		"contents":               func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"manifest":               func(b []byte) []byte { b[200] ^= 1; return b },
		"line":                   func(b []byte) []byte { b[20] = '9'; return b },
		"last byte missing":      func(b []byte) []byte { return b[:len(b)-1] },
		"truncated to 100 bytes": func(b []byte) []byte { return b[:100] },
		"empty":                  func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, b *objectstest.Backend, kind code.Kind) {
				tree := write(t, node(t, b), kind, "", "a.txt", strings.Repeat("text ", 100), "b.txt", "x")
				b.Change(t, b.Keys(t, "workspaces/"+id+"/trees/")[0], hurt)
				s := node(t, b)
				if got, _, err := s.Read(id, kind, tree, "b.txt"); !errors.Is(err, durable.ErrCorrupt) {
					t.Errorf("read %q, %v, want ErrCorrupt", got, err)
				}
				if _, _, err := s.Pack(id, kind, []code.Head{{Name: "main", Tree: tree}}, at); !errors.Is(err, durable.ErrCorrupt) {
					t.Errorf("packing a damaged tree: %v, want ErrCorrupt", err)
				}
				var found []string
				if _, err := s.Scrub(map[string]code.Recorded{id: {Kind: kind}}, func(what string) { found = append(found, what) }); err != nil || len(found) != 1 {
					t.Errorf("scrubbing found %q, %v", found, err)
				}
				if err := s.Save(io.Discard); err != nil {
					t.Errorf("the backup of the other trees: %v", err)
				}
			})
		})
	}
	b := objectstest.Folder(t)
	var found []string
	if _, err := node(t, b).Scrub(map[string]code.Recorded{id: {Kind: code.Git}}, func(what string) { found = append(found, what) }); err != nil || len(found) != 1 {
		t.Errorf("with a missing workspace, the scrub found %q, %v", found, err)
	}
}

// Sending content again repairs damaged content, even if the change contains nothing new. In an
// earlier version, the write succeeded, but the content stayed unreadable.
func TestWritingAgainRepairsDamagedContent(t *testing.T) {
	each(t, func(t *testing.T, b *objectstest.Backend, kind code.Kind) {
		text := strings.Repeat("text ", 100)
		first := write(t, node(t, b), kind, "", "a.txt", text, "b.txt", "x")
		head := write(t, node(t, b), kind, first, "c.txt", "y")
		b.Change(t, "workspaces/"+id+"/trees/"+first, func(o []byte) []byte {
			o[bytes.Index(o, []byte(text))+200] ^= 1
			return o
		})
		if _, _, err := node(t, b).Read(id, kind, head, "a.txt"); !errors.Is(err, durable.ErrCorrupt) {
			t.Fatalf("the content is not damaged: %v, want ErrCorrupt", err)
		}
		again := write(t, node(t, b), kind, head, "a.txt", text)
		for _, tree := range []string{first, head, again} {
			if got, _, err := node(t, b).Read(id, kind, tree, "a.txt"); err != nil || string(got) != text {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
		}
		if got, _, err := node(t, b).Read(id, kind, head, "b.txt"); err != nil || string(got) != "x" {
			t.Errorf("the neighbouring file is %q, %v", got, err)
		}
	})
}

// Every commit of the history is needed, even if none of its files is in the head. Without such a
// commit the repository cannot be cloned.
func TestAMissingCommitOfTheHistoryIsDetected(t *testing.T) {
	objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
		if err := node(t, b).Make(id, code.Git); err != nil {
			t.Fatal(err)
		}
		var commits []string
		base := ""
		for _, text := range []string{"1", "2", "3"} {
			base = write(t, node(t, b), code.Git, base, "a.txt", text)
			commits = append(commits, base)
		}
		scrub := func() (found []string) {
			recorded := map[string]code.Recorded{id: {Kind: code.Git, Heads: []code.Head{{Name: "main", Tree: base}}}}
			if _, err := node(t, b).Scrub(recorded, func(what string) { found = append(found, what) }); err != nil {
				t.Fatal(err)
			}
			return found
		}
		if found := scrub(); found != nil {
			t.Errorf("in a complete workspace, the scrub found %q", found)
		}
		for _, gone := range commits {
			key := "workspaces/" + id + "/trees/" + gone
			kept, err := objects.GetBytes(t.Context(), b, key, 0, -1, 1<<20)
			if err == nil {
				err = b.Delete(t.Context(), key)
			}
			if err != nil {
				t.Fatal(err)
			}
			if found := scrub(); !slices.ContainsFunc(found, func(what string) bool { return strings.Contains(what, gone) }) {
				t.Errorf("without %s, the scrub found %q", gone, found)
			}
			if err := objects.PutBytes(t.Context(), b, key, kept); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Everything that a recorded head needs is checked: its tree, the trees with its files, and
// the history of a repository.
func TestAMissingTreeIsDetected(t *testing.T) {
	each(t, func(t *testing.T, b *objectstest.Backend, kind code.Kind) {
		first := write(t, node(t, b), kind, "", "a.txt", "1")
		head := write(t, node(t, b), kind, first, "b.txt", "2")
		for _, gone := range []string{first, head} {
			var found []string
			scrub := func() {
				found = nil
				recorded := map[string]code.Recorded{id: {Kind: kind, Heads: []code.Head{{Name: "main", Tree: head}}}}
				if _, err := node(t, b).Scrub(recorded, func(what string) { found = append(found, what) }); err != nil {
					t.Fatal(err)
				}
			}
			if gone == first {
				if scrub(); found != nil {
					t.Fatalf("in an undamaged workspace, the scrub found %q", found)
				}
			}
			if err := b.Delete(t.Context(), "workspaces/"+id+"/trees/"+gone); err != nil {
				t.Fatal(err)
			}
			if scrub(); len(found) == 0 {
				t.Errorf("without %s, the scrub found nothing", gone)
			}
		}
		if _, _, err := node(t, b).Read(id, kind, head, "b.txt"); !errors.Is(err, code.ErrMissing) {
			t.Errorf("reading returned %v, want ErrMissing", err)
		}
	})
}

func heads(trees ...string) trees.Heads {
	return func() (map[string][]code.Head, error) {
		var of []code.Head
		for i, tree := range trees {
			of = append(of, code.Head{Name: fmt.Sprint(i), Tree: tree})
		}
		return map[string][]code.Head{id: of}, nil
	}
}

func sweep(t testing.TB, s *trees.Store, h trees.Heads) int {
	t.Helper()
	n, err := s.Sweep(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A workspace with an unreadable head is not swept, because the trees that the head needs are
// unknown.
func TestADamagedWorkspaceIsNotSwept(t *testing.T) {
	b := objectstest.Folder(t)
	s := node(t, b)
	if err := s.Make(id, code.Plain); err != nil {
		t.Fatal(err)
	}
	first := write(t, s, code.Plain, "", "a", "1")
	head := write(t, s, code.Plain, first, "b", "2")
	b.Change(t, "workspaces/"+id+"/trees/"+head, func([]byte) []byte { return nil })
	for range 3 {
		b.Age(t, "workspaces/", 25*time.Hour)
		b.Age(t, "aside/", 25*time.Hour)
		if n := sweep(t, node(t, b), heads(head)); n != 0 {
			t.Errorf("%d trees were removed", n)
		}
	}
	if _, _, err := node(t, b).Read(id, code.Plain, first, "a"); err != nil {
		t.Errorf("the tree that the head needs: %v", err)
	}
}

// A node that was paused for hours publishes heads that another node has since replaced.
func TestALatePublishRemovesNothing(t *testing.T) {
	b := objectstest.Folder(t)
	late, owner := node(t, b), node(t, b)
	if err := late.Make(id, code.Plain); err != nil {
		t.Fatal(err)
	}
	old := write(t, late, code.Plain, "", "a", "1")
	newer := write(t, owner, code.Plain, old, "b", "2")
	b.Age(t, "workspaces/", 25*time.Hour)
	if err := late.Publish(id, code.Plain, []code.Head{{Name: "main", Tree: old}}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, node(t, b), code.Plain, newer); got != "a=1 b=2" {
		t.Errorf("the newer tree is %q", got)
	}
}

func TestObjectsWithoutAHeadAreRemovedAfterTheGracePeriod(t *testing.T) {
	objectstest.Each(t, func(t *testing.T, b *objectstest.Backend) {
		s := node(t, b)
		if err := s.Make(id, code.Plain); err != nil {
			t.Fatal(err)
		}
		lost := write(t, s, code.Plain, "", "x", "lost")
		base := write(t, s, code.Plain, "", "a", "1")
		head := write(t, s, code.Plain, base, "b", "2") // the content of its file "a" is in the object of base
		for range 2 {
			if n := sweep(t, s, heads(head)); n != 0 || len(b.Keys(t, "aside/")) != 0 {
				t.Fatal("a young tree was removed or moved to quarantine")
			}
		}
		b.Age(t, "workspaces/", 25*time.Hour)
		sweep(t, s, heads(head))
		if got := b.Keys(t, "aside/"); len(got) != 1 || !strings.HasSuffix(got[0], lost) {
			t.Errorf("the trees in quarantine are %q", got)
		}
		b.Age(t, "aside/", 25*time.Hour)
		release, err := node(t, b).Hold()
		if err != nil {
			t.Fatal(err)
		}
		if n := sweep(t, s, heads(head)); n != 0 {
			t.Errorf("%d objects were removed during the backup of another node", n)
		}
		release()
		sweep(t, s, heads(head))
		if n := sweep(t, s, heads(head)); n > 1 {
			t.Errorf("%d objects were removed, want at most 1", n)
		}
		b.Age(t, "aside/", 25*time.Hour)
		sweep(t, s, heads(head))
		if _, err := node(t, b).List(id, code.Plain, lost); !errors.Is(err, code.ErrNotFound) {
			t.Errorf("listing the removed tree: %v, want ErrNotFound", err)
		}
		if got := content(t, node(t, b), code.Plain, head); got != "a=1 b=2" {
			t.Errorf("the head is %q", got)
		}
		// An unlisted workspace stays in quarantine for the same time, and is restored if it is
		// listed again.
		none := func() (map[string][]code.Head, error) { return nil, nil }
		sweep(t, s, none)
		if got := b.Keys(t, "aside/"); len(got) != 3 {
			t.Errorf("the trees in quarantine are %q", got)
		}
		if sweep(t, s, heads(head)); len(b.Keys(t, "aside/")) != 0 {
			t.Errorf("after the workspace was listed again, the trees in quarantine are %q", b.Keys(t, "aside/"))
		}
		sweep(t, s, none)
		b.Age(t, "aside/", 25*time.Hour)
		if n := sweep(t, s, none); n != 3 || len(b.Keys(t, "")) != 0 {
			t.Errorf("%d objects were removed, want 3; the remaining keys are %q, want none", n, b.Keys(t, ""))
		}
	})
}

// A head that is recorded after the listing needs a tree that the listing does not contain.
func TestASweepKeepsTreesOfHeadsRecordedAfterItsListing(t *testing.T) {
	b := objectstest.Folder(t)
	s := node(t, b)
	if err := s.Make(id, code.Plain); err != nil {
		t.Fatal(err)
	}
	old := write(t, s, code.Plain, "", "a", "1")
	b.Age(t, "workspaces/", 25*time.Hour)
	var newer string
	sweep(t, s, func() (map[string][]code.Head, error) {
		newer = write(t, node(t, b), code.Plain, old, "b", "2")
		return heads(newer)()
	})
	if got := b.Keys(t, "aside/"); got != nil {
		t.Errorf("the trees in quarantine are %q", got)
	}
}

// before is a store that calls list before it lists workspaces.
type before struct {
	objects.Store
	list func()
}

func (b *before) List(ctx context.Context, prefix string, fn func(objects.Info) error) error {
	if b.list != nil && strings.HasPrefix(prefix, "workspaces/") { // not for the listing of backups in progress
		b.list()
	}
	return b.Store.List(ctx, prefix, fn)
}

// A tree that refers to an old tree is recorded just before the listing, so the old tree stays.
func TestASweepKeepsTreesOfHeadsRecordedBeforeItsListing(t *testing.T) {
	b := objectstest.Folder(t)
	slow := &before{Store: b}
	s := node(t, slow)
	if err := s.Make(id, code.Plain); err != nil {
		t.Fatal(err)
	}
	old := write(t, s, code.Plain, "", "a", "1")
	b.Age(t, "workspaces/", 25*time.Hour)
	newer := ""
	slow.list = sync.OnceFunc(func() { newer = write(t, node(t, b), code.Plain, old, "b", "2") })
	sweep(t, s, func() (map[string][]code.Head, error) {
		if newer == "" {
			return nil, nil
		}
		return heads(newer)()
	})
	if got := b.Keys(t, "aside/"); got != nil {
		t.Errorf("the trees in quarantine are %q", got)
	}
}

// A plain tree refers to a limited number of other trees, because each of them must be kept even if
// only a few of its files are needed.
func TestAPlainTreeRefersToFewOthers(t *testing.T) {
	b := objectstest.Folder(t)
	s := node(t, b)
	if err := s.Make(id, code.Plain); err != nil {
		t.Fatal(err)
	}
	tree, want := "", ""
	for i := range 40 {
		tree = write(t, s, code.Plain, tree, fmt.Sprintf("f%02d", i), fmt.Sprint(i))
		want += fmt.Sprintf("f%02d=%d ", i, i)
	}
	b.Age(t, "workspaces/", 25*time.Hour)
	sweep(t, s, heads(tree))
	b.Age(t, "aside/", 25*time.Hour)
	sweep(t, s, heads(tree))
	if got := b.Keys(t, "workspaces/"+id+"/trees/"); len(got) > 17 {
		t.Errorf("%d trees remain", len(got))
	}
	if got := content(t, node(t, b), code.Plain, tree); got != strings.TrimSpace(want) {
		t.Errorf("the tree is %q", got)
	}
}
