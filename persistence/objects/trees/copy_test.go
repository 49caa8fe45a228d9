package trees_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"atelier/actors/code"
	"atelier/persistence/objects/objectstest"
)

const copyID = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2cff"

// contentOf returns the contents of the files of a tree in another workspace.
func contentOf(t testing.TB, s code.Store, of string, kind code.Kind, tree string) string {
	t.Helper()
	infos, err := s.Describe(of, kind, tree)
	if err != nil {
		t.Error(err)
		return ""
	}
	var b strings.Builder
	for _, info := range infos {
		c, _, err := s.Read(of, kind, tree, info.Path)
		fmt.Fprintf(&b, "%s %s %q %v\n", info.Path, info.Mode, c, err)
	}
	return b.String()
}

// copied creates a workspace with a history, and a copy of the workspace. It returns the heads of
// both and their contents.
func copied(t *testing.T, s code.Store, kind code.Kind) (heads []code.Head, want map[string]string) {
	t.Helper()
	zero := write(t, s, kind, "", "z", "a file that only the commit contains")
	one := write(t, s, kind, zero, "z", "-", "a", "1", "run+x", "2", "dir/same", "2")
	two := write(t, s, kind, one, "a", "changed")
	three := write(t, s, kind, two, "run", "-", "b", "3")
	heads = []code.Head{{Name: "main", Tree: two}, {Name: "step-1-end", Tree: three}, {Name: "step-1-start", Tree: two}}
	if err := s.Publish(id, kind, heads); err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(id, copyID, kind, heads); err != nil {
		t.Fatal(err)
	}
	want = map[string]string{}
	for _, h := range heads {
		if want[h.Tree] = contentOf(t, s, id, kind, h.Tree); contentOf(t, s, copyID, kind, h.Tree) != want[h.Tree] {
			t.Errorf("the copy of %s differs", h.Name)
		}
	}
	return heads, want
}

// whole verifies the heads of a workspace, and that the workspace can be written, downloaded and
// scrubbed.
func whole(t *testing.T, s interface {
	code.Store
	Scrub(map[string]code.Recorded, func(string)) (int, error)
}, of string, kind code.Kind, heads []code.Head, want map[string]string) {
	t.Helper()
	for tree, want := range want {
		if got := contentOf(t, s, of, kind, tree); got != want {
			t.Errorf("%s contains\n%s\nwant\n%s", tree, got, want)
		}
	}
	if _, err := s.Scrub(map[string]code.Recorded{of: {Kind: kind, Heads: heads}}, func(what string) { t.Errorf("%s is damaged", what) }); err != nil {
		t.Error(err)
	}
	if _, err := s.Write(of, kind, heads[1].Tree, change("new", "x")); err != nil {
		t.Error(err)
	}
	f, _, err := s.Pack(of, kind, heads, at)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

func TestRemovingAWorkspaceDoesNotChangeItsCopy(t *testing.T) {
	each(t, func(t *testing.T, b *objectstest.Backend, kind code.Kind) {
		for gone, stays := range map[string]string{id: copyID, copyID: id} {
			s := node(t, b)
			if err := s.Make(id, kind); err != nil {
				t.Fatal(err)
			}
			heads, want := copied(t, s, kind)
			s.Remove(gone)
			// A later sweep gets only the heads of the other workspace.
			b.Age(t, "workspaces/", 25*time.Hour)
			recorded := func() (map[string][]code.Head, error) { return map[string][]code.Head{stays: heads}, nil }
			sweep(t, s, recorded)
			whole(t, node(t, b), stays, kind, heads, want)
			s.Remove(stays)
		}
		for gone, stays := range map[string]string{id: copyID, copyID: id} {
			s := alone(t, kind) // copies are links
			heads, want := copied(t, s, kind)
			s.Remove(gone)
			whole(t, s, stays, kind, heads, want)
		}
	})
}

// A copy contains neither old plain trees nor trees without a head.
func TestACopyContainsOnlyPublishedTrees(t *testing.T) {
	each(t, func(t *testing.T, b *objectstest.Backend, kind code.Kind) {
		s := node(t, b)
		heads, _ := copied(t, s, kind)
		secret := write(t, s, kind, heads[0].Tree, "unpublished", "secret")
		if _, err := s.List(copyID, kind, secret); !errors.Is(err, code.ErrMissing) {
			t.Errorf("a tree without a head was copied: %v, want ErrMissing", err)
		}
		if n, want := len(b.Keys(t, "workspaces/"+copyID+"/trees/")), map[code.Kind]int{code.Git: 4, code.Plain: 2}[kind]; n != want {
			t.Errorf("the copy has %d trees, want %d", n, want)
		}
		if err := s.Copy(unknownWorkspace, copyID, kind, heads); !errors.Is(err, code.ErrMissing) {
			t.Errorf("copying a missing workspace: %v, want ErrMissing", err)
		}
	})
}

const unknownWorkspace = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2c00"

// cameOver is the source of a push: it contains the received Git objects.
type cameOver struct{ *memory.Storage }

func (c cameOver) Stat(name string) (code.ObjectKind, int64, bool) {
	o, err := c.EncodedObject(plumbing.AnyObject, plumbing.NewHash(name))
	if err != nil {
		return 0, 0, false
	}
	return map[plumbing.ObjectType]code.ObjectKind{plumbing.CommitObject: code.CommitObject, plumbing.TreeObject: code.TreeObject, plumbing.BlobObject: code.BlobObject}[o.Type()], o.Size(), true
}

func (c cameOver) Content(name string) ([]byte, error) {
	o, err := c.EncodedObject(plumbing.AnyObject, plumbing.NewHash(name))
	if err != nil {
		return nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// The content of a pushed commit can be in the object of a commit that is not its ancestor. A copy
// must include this object.
func TestACopyContainsTheContentsOfOtherBranches(t *testing.T) {
	st := memory.NewStorage()
	put := func(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) plumbing.Hash {
		t.Helper()
		o := st.NewEncodedObject()
		o.SetType(kind)
		err := encode(o)
		if err == nil {
			_, err = st.SetEncodedObject(o)
		}
		if err != nil {
			t.Fatal(err)
		}
		return o.Hash()
	}
	same := put(plumbing.BlobObject, func(o plumbing.EncodedObject) error {
		w, err := o.Writer()
		if err != nil {
			return err
		}
		_, err = w.Write([]byte("same"))
		return errors.Join(err, w.Close())
	})
	commit := func(path string) string {
		t.Helper()
		tree := &object.Tree{Entries: []object.TreeEntry{{Name: path, Mode: filemode.Regular, Hash: same}}}
		who := object.Signature{Name: "Ada", Email: "ada@example.org", When: at}
		c := &object.Commit{Author: who, Committer: who, Message: path, TreeHash: put(plumbing.TreeObject, tree.Encode)}
		return put(plumbing.CommitObject, c.Encode).String()
	}
	tips := []string{commit("x"), commit("y")}
	for _, head := range tips {
		s := node(t, objectstest.Folder(t))
		if err := s.Make(id, code.Git); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Receive(id, nil, tips, cameOver{st}); err != nil {
			t.Fatal(err)
		}
		heads := []code.Head{{Name: "main", Tree: head}}
		want := contentOf(t, s, id, code.Git, head)
		if err := s.Copy(id, copyID, code.Git, heads); err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, s, copyID, code.Git, head); got != want {
			t.Errorf("the copy contains\n%s\nwant\n%s", got, want)
		}
	}
}
