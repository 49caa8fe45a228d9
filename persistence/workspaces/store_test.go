package workspaces

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/code"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const id = "019a3f52-7c1e-7a44-9f0b-3d5a1e6b2c01"

var (
	kinds = []code.Kind{code.Git, code.Plain}
	at    = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

func open() error { return nil }

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), open, func() {}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newWorkspace(t testing.TB, kind code.Kind) *Store {
	t.Helper()
	s := newStore(t)
	if err := s.Make(id, kind); err != nil {
		t.Fatal(err)
	}
	return s
}

// write is a change given as path and content; "-" deletes.
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

func (s *Store) must(t testing.TB, kind code.Kind, base string, files ...string) string {
	t.Helper()
	tree, err := s.Write(id, kind, base, change(files...))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// content is a tree as text.
func (s *Store) content(t testing.TB, kind code.Kind, tree string) string {
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
			t.Errorf("%s is described as %v in its tree, and as %v", info.Path, info, about)
		}
		sign := map[code.Mode]string{code.Regular: "=", code.Executable: "+x="}[info.Mode]
		fmt.Fprintf(&b, "%s%s%s ", info.Path, sign, c)
	}
	if listed, err := s.List(id, kind, tree); err != nil || !slices.Equal(listed, paths) {
		t.Errorf("listed are %q %v, described %q", listed, err, paths)
	}
	return strings.TrimSpace(b.String())
}

func TestATreeNeverChanges(t *testing.T) {
	for _, kind := range kinds {
		s := newWorkspace(t, kind)
		empty := s.must(t, kind, "")
		one := s.must(t, kind, empty, "a", "1", "b/c/d", "2", "b/ä.txt", "")
		two := s.must(t, kind, one, "a", "changed", "b/c/d", "-", "new", "3")
		three := s.must(t, kind, two, "b/ä.txt", "-", "b", "now a file")
		for tree, want := range map[string]string{
			empty: "", one: "a=1 b/c/d=2 b/ä.txt=", two: "a=changed b/ä.txt= new=3", three: "a=changed b=now a file new=3",
		} {
			if got := s.content(t, kind, tree); got != want {
				t.Errorf("%s: %q, want %q", kind, got, want)
			}
		}
		for _, path := range []string{"no", "b/c", "a/b", "b/c/d"} {
			if _, _, err := s.Read(id, kind, two, path); !errors.Is(err, code.ErrNotFound) {
				t.Errorf("%s: %s: %v", kind, path, err)
			}
		}
		for _, tree := range []string{"", "x", "..", strings.Repeat("0", 32), strings.Repeat("0", 40)} {
			if _, err := s.List(id, kind, tree); !errors.Is(err, code.ErrNotFound) {
				t.Errorf("%s: tree %q: %v", kind, tree, err)
			}
		}
	}
}

func TestAFileKeepsItsModeUntilItIsGivenAnother(t *testing.T) {
	for _, kind := range kinds {
		s := newWorkspace(t, kind)
		one := s.must(t, kind, "", "a b+x", "1", "plain", "1", "same", "1")
		two := s.must(t, kind, one, "a b", "2", "plain+x", "1")
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
			if got := s.content(t, kind, tree); got != want {
				t.Errorf("%s: %q, want %q", kind, got, want)
			}
		}
	}
}

// A file with a name that Windows cannot check out may be there from before such names
// were refused.
func TestAFileThatWindowsCannotCheckOutStaysUsable(t *testing.T) {
	before := map[string]entry{"aux.c": {Size: 1, Ref: "x"}, "a:b": {Size: 1, Ref: "y"}}
	after, err := apply(before, code.Change{Write: []code.File{{Path: "aux.c", Content: []byte("12")}}, Delete: []string{"a:b"}})
	if err != nil || len(after) != 1 || after["aux.c"].Size != 2 {
		t.Errorf("changed is %v, %v", after, err)
	}
	for _, path := range []string{"aux.h", "a:b/c", "x/nul"} {
		var bad *code.Problem
		if _, err := apply(before, code.Change{Write: []code.File{{Path: path}}}); !errors.As(err, &bad) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAChangeThatCannotBeIsRefusedAsAWhole(t *testing.T) {
	for _, kind := range kinds {
		s := newWorkspace(t, kind)
		base := s.must(t, kind, "", "a", "1", "dir/b", "2", "Straße", "3")
		before := s.everything(t)
		for _, bad := range [][]string{
			{"ok", "x", "../evil", "x"}, {"ok", "x", ".GIT/config", "x"}, {"ok", "x", "ok", "y"}, {"a/b", "x"}, {"dir", "x"},
			{"A", "x"}, {"DIR/c", "x"}, {"dir/B", "x"}, {"STRASSE", "x"}, {"ok", "x", "OK", "y"}, {"e\u0301", "x", "\u00e9", "y"}, {"../a", "-"}, {"big", strings.Repeat("x", maxFile+1)},
		} {
			var p *code.Problem
			if _, err := s.Write(id, kind, base, change(bad...)); !errors.As(err, &p) {
				t.Errorf("%s: %.60q: %v", kind, bad, err)
			}
		}
		if _, err := s.Write(id, kind, base, change("no", "-")); !errors.Is(err, code.ErrNotFound) {
			t.Errorf("%s: deleting what is not there: %v", kind, err)
		}
		var many []string
		for i := range code.MaxFiles + 1 {
			many = append(many, fmt.Sprint(i), "")
		}
		var p *code.Problem
		if _, err := s.Write(id, kind, base, change(many...)); !errors.As(err, &p) {
			t.Errorf("%s: too many files: %v", kind, err)
		}
		if after := s.everything(t); after != before {
			t.Errorf("%s: something was left behind:\n%s\nbefore\n%s", kind, after, before)
		}
	}
}

// everything lists what is on disk.
func (s *Store) everything(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(s.dir, func(path string, _ os.DirEntry, err error) error {
		fmt.Fprintln(&b, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWhatNobodyKnowsIsSetAside: a start cannot tell why a workspace is not
// known. It was removed at once, with the work of a whole codelab, when a
// damaged store had lost its record.
func TestWhatNobodyKnowsIsSetAside(t *testing.T) {
	const grace = 24 * time.Hour
	for _, kind := range kinds {
		s := newWorkspace(t, kind)
		other := strings.Replace(id, "0", "1", 1)
		if err := s.Make(other, kind); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(s.dir, tempPrefix+"x"), 0o700); err != nil {
			t.Fatal(err)
		}
		again, err := Open(s.dir, open, func() {}, s.log)
		if err != nil {
			t.Fatal(err)
		}
		sweep := func(after time.Duration, known ...string) {
			t.Helper()
			if err := again.Sweep(func(have string) bool { return slices.Contains(known, have) }, grace, at.Add(after)); err != nil {
				t.Fatal(err)
			}
		}
		left := func() (names string) {
			t.Helper()
			there, err := os.ReadDir(s.dir)
			aside, err2 := os.ReadDir(filepath.Join(s.dir, asideFolder))
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			for _, e := range slices.Concat(there, aside) {
				names += " " + e.Name()
			}
			return names
		}
		sweep(0, id)
		if got := left(); got != " "+asideFolder+" "+id+" "+other {
			t.Errorf("left are%s", got)
		}
		sweep(grace/2, id, other)
		if got := left(); got != " "+asideFolder+" "+id+" "+other {
			t.Errorf("known again, left are%s", got)
		}
		sweep(grace, id)
		sweep(2*grace-time.Second, id)
		if got := left(); got != " "+asideFolder+" "+id+" "+other {
			t.Errorf("before the grace period is over, left are%s", got)
		}
		sweep(2*grace+time.Second, id)
		if got := left(); got != " "+asideFolder+" "+id {
			t.Errorf("after it left are%s", got)
		}
		again.Remove(id)
		again.Remove("..")
		if _, err := again.List(id, kind, ""); !errors.Is(err, code.ErrNotFound) {
			t.Errorf("%v", err)
		}
		_ = again.Close()
	}
}

func TestNothingReferredToGoesWhileItIsHeld(t *testing.T) {
	s := newWorkspace(t, code.Plain)
	one := s.must(t, code.Plain, "", "a", "1")
	two := s.must(t, code.Plain, one, "a", "2")
	release, err := s.Hold()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Publish(id, code.Plain, []code.Head{{Name: "main", Tree: two}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.content(t, code.Plain, one); got != "a=1" {
		t.Errorf("held is %q", got)
	}
	release()
	release()
	if _, err := s.List(id, code.Plain, one); !errors.Is(err, code.ErrNotFound) {
		t.Errorf("a tree that no head names is kept: %v", err)
	}
	if got := s.content(t, code.Plain, two); got != "a=2" {
		t.Errorf("published is %q", got)
	}
}

func TestNothingIsWrittenWhileTheGateIsShut(t *testing.T) {
	s := newWorkspace(t, code.Git)
	shut := errors.New("read-only")
	s.gate = func() error { return shut }
	if _, err := s.Write(id, code.Git, "", change("a", "1")); !errors.Is(err, shut) {
		t.Errorf("%v", err)
	}
	if err := s.Make(id, code.Git); !errors.Is(err, shut) {
		t.Errorf("%v", err)
	}
}

func TestLinksLeadNowhere(t *testing.T) {
	s := newWorkspace(t, code.Plain)
	tree := s.must(t, code.Plain, "", "a", "1", "dir/b", "2")
	folder := filepath.Join(s.dir, id, treesFolder, tree)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": secret, "up": "../../../../x", "in": "a", "folder": "dir"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"out", "up", "in", "folder/b"} {
		if b, _, err := s.Read(id, code.Plain, tree, path); !errors.Is(err, code.ErrNotFound) {
			t.Errorf("%s: %q %v", path, b, err)
		}
	}
	if got := s.content(t, code.Plain, tree); got != "a=1 dir/b=2" {
		t.Errorf("listed are %q", got)
	}
}

func TestWritersOfDifferentBranchesDoNotMix(t *testing.T) {
	for _, kind := range kinds {
		s := newWorkspace(t, kind)
		first := s.must(t, kind, "", "shared", "x")
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
				t.Errorf("%s: branch %d holds %v %v", kind, i, paths, err)
			}
		}
	}
}

// unpack unpacks a download.
func (s *Store) unpack(t testing.TB, kind code.Kind, heads []code.Head) string {
	t.Helper()
	f, size, err := s.Pack(id, kind, heads, at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.(*os.File).Stat(); err != nil || info.Size() != size {
		t.Errorf("%d bytes, said %d", info.Size(), size)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		if !filepath.IsLocal(h.Name) {
			t.Fatalf("%q leads outside", h.Name)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			var b []byte
			if b, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(path, b, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestTheOrdinaryClientClonesTheDownload(t *testing.T) {
	s := newWorkspace(t, code.Git)
	main := s.must(t, code.Git, "", "README.md", "# Hi\n", "src/main.go", "package main\n", "ä/한글.txt", "x")
	start := s.must(t, code.Git, main, "src/main.go", "package start\n", "src/a/b/c.txt", "deep")
	end := s.must(t, code.Git, start, "README.md", "-", "src/main.go", "package end\n")
	heads := []code.Head{{Name: "main", Tree: main}, {Name: "step-1-end", Tree: end}, {Name: "step-1-start", Tree: start}}
	if err := s.Publish(id, code.Git, heads); err != nil {
		t.Fatal(err)
	}
	s.must(t, code.Git, end, "unpublished", "secret") // in the repository, in no branch
	dir := s.unpack(t, code.Git, heads)
	if got := git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("the download is not clean:\n%s", got)
	}
	git(t, dir, "fsck", "--full", "--strict")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", dir, clone)
	if b, err := os.ReadFile(filepath.Join(clone, "src/main.go")); err != nil || string(b) != "package main\n" {
		t.Errorf("cloned %q %v", b, err)
	}
	git(t, clone, "checkout", "-q", "step-1-end")
	if b, err := os.ReadFile(filepath.Join(clone, "src/main.go")); err != nil || string(b) != "package end\n" {
		t.Errorf("checked out %q %v", b, err)
	}
	if got := git(t, clone, "log", "--format=%an|%ae|%s", "origin/step-1-start"); got != "Ada x|facilitator@atelier.invalid|change\nAda x|facilitator@atelier.invalid|change" {
		t.Errorf("log: %s", got)
	}
	if got := git(t, clone, "log", "--all", "--oneline"); strings.Count(got, "\n") != 2 {
		t.Errorf("cloned is more than the branches: %s", got)
	}
	// The repository on disk is an ordinary one too.
	git(t, filepath.Join(s.dir, id, gitFolder), "--git-dir=.", "fsck", "--full", "--strict")
	if got := git(t, filepath.Join(s.dir, id, gitFolder), "--git-dir=.", "branch", "--format=%(refname:short)"); got != "main\nstep-1-end\nstep-1-start" {
		t.Errorf("branches: %s", got)
	}
	if err := s.Publish(id, code.Git, heads[:1]); err != nil {
		t.Fatal(err)
	}
	if got := git(t, filepath.Join(s.dir, id, gitFolder), "--git-dir=.", "branch", "--format=%(refname:short)"); got != "main" {
		t.Errorf("branches: %s", got)
	}
}

func TestFoldersAreDownloadedAsFolders(t *testing.T) {
	s := newWorkspace(t, code.Plain)
	one := s.must(t, code.Plain, "", "a/b", "1")
	two := s.must(t, code.Plain, one, "c", "2")
	dir := s.unpack(t, code.Plain, []code.Head{{Name: "step-1-end", Tree: two}, {Name: "step-1-start", Tree: one}})
	for path, want := range map[string]string{"step-1-start/a/b": "1", "step-1-end/a/b": "1", "step-1-end/c": "2"} {
		if b, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", path, b, err)
		}
	}
}

func TestAnEmptyRepositoryIsOneToo(t *testing.T) {
	s := newWorkspace(t, code.Git)
	main := s.must(t, code.Git, "")
	dir := s.unpack(t, code.Git, []code.Head{{Name: "main", Tree: main}})
	if got := git(t, dir, "status", "--porcelain", "--branch"); got != "## main" {
		t.Errorf("status: %s", got)
	}
	if same := s.must(t, code.Git, main); same != main {
		t.Error("a change of nothing makes a commit")
	}
}

func FuzzWrite(f *testing.F) {
	// What is said of paths is tested with package code; here are a few of each kind.
	for _, p := range []string{
		"a", "", "/etc/passwd", "../evil", "a/../b", "dir", "dir/b", "DIR/B", "a/x", "a\\b", "a\x00b", ".git/config", ".GIT", "git~1/x", ".g\u200cit/x",
		".gitignore", "a b/ä/한글.txt", "...", "-x", "con", strings.Repeat("x", 256), strings.Repeat("a/", 512) + "a",
	} {
		f.Add(p, "x", false)
		f.Add("a", p, true)
	}
	stores := map[code.Kind]*Store{}
	trees := map[code.Kind]string{}
	for _, kind := range kinds {
		stores[kind] = newWorkspace(f, kind)
		trees[kind] = stores[kind].must(f, kind, "", "a", "1", "dir/b", "2")
	}
	f.Fuzz(func(t *testing.T, one, two string, remove bool) {
		c := code.Change{Write: []code.File{{Path: one, Content: []byte("1")}, {Path: two, Content: []byte("2")}}, At: at}
		if remove {
			c.Delete = []string{two}
		}
		for kind, s := range stores {
			outside := filepath.Join(filepath.Dir(s.dir), "evil")
			tree, err := s.Write(id, kind, trees[kind], c)
			var p *code.Problem
			if err != nil {
				if !errors.As(err, &p) && !errors.Is(err, code.ErrNotFound) {
					t.Errorf("%s: %q %q: %v", kind, one, two, err)
				}
				continue
			}
			for _, w := range c.Write {
				if b, _, err := s.Read(id, kind, tree, w.Path); err != nil || !bytes.Equal(b, w.Content) {
					t.Errorf("%s: %q reads as %q %v", kind, w.Path, b, err)
				}
			}
			if _, err := os.Stat(outside); err == nil {
				t.Errorf("%s: %q %q wrote outside", kind, one, two)
			}
		}
	})
}
