package trees_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"atelier/actors/code"
	"atelier/persistence/backup"
	"atelier/persistence/objects"
	"atelier/persistence/objects/folder"
	"atelier/persistence/objects/objectstest"
	"atelier/persistence/objects/trees"
)

// A backup of either kind of store can be restored into a folder and into any kind of store. The
// result has the same trees.
func TestABackupRestoresAnywhere(t *testing.T) {
	each(t, func(t *testing.T, b *objectstest.Backend, kind code.Kind) {
		s := node(t, b)
		first := write(t, s, kind, "", "a", "1", "dir/b", "2", "same+x", "1", "logo 1+x", "\x00\xff", "x", "8")
		second := write(t, s, kind, first, "dir/b", "-", "same", "9", "x+x", "8", "c", strings.Repeat("3", 100_000))
		want := map[string]string{first: content(t, s, kind, first), second: content(t, s, kind, second)}
		var saved bytes.Buffer
		if err := backup.Write(&saved, backup.Section{Name: "files", Folder: "files", Hold: s.Hold, Save: s.Save}); err != nil {
			t.Fatal(err)
		}
		data := t.TempDir()
		if err := backup.Restore(data, &saved, backup.Section{Name: "files", Folder: "files", Load: backup.LoadFolder}); err != nil {
			t.Fatal(err)
		}
		local, err := folder.Open(folder.Options{Dir: data + "/files", MinFreeBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer local.Close()
		other := objectstest.S3(t)
		for _, o := range []objects.Store{local, other} {
			if o == objects.Store(other) {
				if err := objects.Place(t.Context(), other, data+"/files"); err != nil {
					t.Fatal(err)
				}
			}
			back := node(t, o)
			for tree, want := range want {
				if got := content(t, back, kind, tree); got != want {
					t.Errorf("the restored workspace is %.80q, want %.80q", got, want)
				}
			}
			var bad []string
			if _, err := back.Scrub(map[string]code.Recorded{id: {Kind: kind}}, func(what string) { bad = append(bad, what) }); err != nil || bad != nil {
				t.Errorf("the damaged objects are %q, %v", bad, err)
			}
			if third := write(t, back, kind, second, "d", "4"); content(t, back, kind, third) == want[second] {
				t.Error("the restored workspace accepts no change")
			}
		}
	})
}

// breakingOff returns only the first half of an object, unless the request is for a part of the
// object.
type breakingOff struct{ objects.Store }

func (b breakingOff) Get(ctx context.Context, key string, from, n int64) (io.ReadCloser, int64, error) {
	r, size, err := b.Store.Get(ctx, key, from, n)
	if err != nil || from > 0 {
		return r, size, err
	}
	half := io.MultiReader(io.LimitReader(r, size/2), iotest.ErrReader(io.ErrUnexpectedEOF))
	return struct {
		io.Reader
		io.Closer
	}{half, r}, size, nil
}

func TestAnInterruptedTransferIsResumed(t *testing.T) {
	b := objectstest.Folder(t)
	if err := objects.PutBytes(t.Context(), b, "a/b", []byte("content")); err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := objects.Save(t.Context(), breakingOff{b}, "", &saved); err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(&saved)
	h, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); h.Name != "a/b" || string(got) != "content" || err != nil {
		t.Errorf("the saved object is %s %q, %v", h.Name, got, err)
	}
}

// Workspaces that are removed during backups are deleted when the last backup has ended. No other
// workspace is deleted. Releasing one hold twice does not release another hold.
func TestWorkspacesRemovedDuringBackupsAreDeletedAfterThem(t *testing.T) {
	b := objectstest.Folder(t)
	s, err := trees.Open(trees.Options{Objects: b, Dir: t.TempDir(), Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range 4 {
		ids = append(ids, id[:len(id)-1]+fmt.Sprint(i))
		if err := s.Make(ids[i], code.Plain); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(ids[i], code.Plain, "", change("a", "1")); err != nil {
			t.Fatal(err)
		}
	}
	left := func(when string, want ...string) {
		t.Helper()
		var got []string
		for _, id := range ids {
			if len(b.Keys(t, "workspaces/"+id+"/")) > 0 {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s the workspaces are %q, want %q", when, got, want)
		}
	}
	hold := func() (release func()) {
		release, err := s.Hold()
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	first := hold()
	s.Remove(ids[0])
	second := hold()
	s.Remove(ids[1])
	left("during two backups", ids...)
	first()
	first()
	s.Remove(ids[2])
	left("during one backup", ids...)
	second()
	left("after both backups", ids[3])
	third := hold()
	third()
	left("after a third backup", ids[3])
	s.Remove(ids[3])
	left("without a backup")
}

// If several nodes share the objects, workspaces removed during a backup of another node are
// removed by the next sweep.
func TestWorkspacesRemovedDuringABackupOfAnotherNodeAreSwept(t *testing.T) {
	b := objectstest.Folder(t)
	one, two := node(t, b), node(t, b)
	if err := one.Make(id, code.Plain); err != nil {
		t.Fatal(err)
	}
	write(t, one, code.Plain, "", "a", "1")
	release, err := two.Hold()
	if err != nil {
		t.Fatal(err)
	}
	one.Remove(id)
	if got := b.Keys(t, "workspaces/"); len(got) != 2 {
		t.Errorf("during a backup, the keys are %q", got)
	}
	release()
	one.Remove(id)
	if got := b.Keys(t, ""); len(got) != 0 {
		t.Errorf("after the backup, the keys are %q", got)
	}
}
