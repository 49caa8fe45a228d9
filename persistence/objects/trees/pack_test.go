package trees_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier/actors/code"
)

// unpack extracts a download.
func unpack(t testing.TB, s code.Store, kind code.Kind, heads []code.Head) string {
	t.Helper()
	f, size, err := s.Pack(id, kind, heads, at)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.(*os.File).Stat(); err != nil || info.Size() != size {
		t.Errorf("the pack has %d bytes, reported as %d", info.Size(), size)
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
			t.Fatalf("the path %q is outside of the archive", h.Name)
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
		t.Skip("git is not installed")
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

func TestGitCanCloneTheDownload(t *testing.T) {
	s := alone(t, code.Git)
	main := write(t, s, code.Git, "", "README.md", "# Hi\n", "src/main.go", "package main\n", "ä/한글.txt", "x")
	start := write(t, s, code.Git, main, "src/main.go", "package start\n", "src/a/b/c.txt", "deep")
	end := write(t, s, code.Git, start, "README.md", "-", "src/main.go", "package end\n")
	heads := []code.Head{{Name: "main", Tree: main}, {Name: "step-1-end", Tree: end}, {Name: "step-1-start", Tree: start}}
	if err := s.Publish(id, code.Git, heads); err != nil {
		t.Fatal(err)
	}
	write(t, s, code.Git, end, "unpublished", "secret") // in the repository, but in no branch
	dir := unpack(t, s, code.Git, heads)
	if got := git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("the download is not clean:\n%s", got)
	}
	git(t, dir, "fsck", "--full", "--strict")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", dir, clone)
	if b, err := os.ReadFile(filepath.Join(clone, "src/main.go")); err != nil || string(b) != "package main\n" {
		t.Errorf("the cloned file is %q %v", b, err)
	}
	git(t, clone, "checkout", "-q", "step-1-end")
	if b, err := os.ReadFile(filepath.Join(clone, "src/main.go")); err != nil || string(b) != "package end\n" {
		t.Errorf("after a checkout, the file is %q %v", b, err)
	}
	if got := git(t, clone, "log", "--format=%an|%ae|%s", "origin/step-1-start"); got != "Ada x|facilitator@atelier.invalid|change\nAda x|facilitator@atelier.invalid|change" {
		t.Errorf("the log is %s", got)
	}
	if got := git(t, clone, "log", "--all", "--oneline"); strings.Count(got, "\n") != 2 {
		t.Errorf("the clone contains more than the branches: %s", got)
	}
}

func TestFoldersAreDownloadedAsFolders(t *testing.T) {
	s := alone(t, code.Plain)
	one := write(t, s, code.Plain, "", "a/b", "1")
	two := write(t, s, code.Plain, one, "c", "2")
	dir := unpack(t, s, code.Plain, []code.Head{{Name: "step-1-end", Tree: two}, {Name: "step-1-start", Tree: one}})
	for path, want := range map[string]string{"step-1-start/a/b": "1", "step-1-end/a/b": "1", "step-1-end/c": "2"} {
		if b, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(b) != want {
			t.Errorf("%s contains %q, %v", path, b, err)
		}
	}
}

func TestAnEmptyRepositoryCanBeDownloaded(t *testing.T) {
	s := alone(t, code.Git)
	main := write(t, s, code.Git, "")
	dir := unpack(t, s, code.Git, []code.Head{{Name: "main", Tree: main}})
	if got := git(t, dir, "status", "--porcelain", "--branch"); got != "## main" {
		t.Errorf("the status is %s", got)
	}
	if same := write(t, s, code.Git, main); same != main {
		t.Error("an empty change creates a commit")
	}
}
