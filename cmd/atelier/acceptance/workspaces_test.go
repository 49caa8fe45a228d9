package acceptance

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// code returns the path of the codelab's workspace.
func (c *class) code() string { return "/codeserver/" + c.id }

func (c *class) workspace(kind string, files ...record) record {
	c.t.Helper()
	return c.admin.post("/codeserver", record{"codelab_id": c.id, "structure_type": kind, "workspace_files": append([]record{}, files...)}).object()
}

func file(path, content string) record { return record{"path": path, "content": content} }

func (a answer) texts() []string {
	a.t.Helper()
	var out []string
	a.into(&out)
	return out
}

// untar unpacks a tar.gz into a folder.
func untar(t *testing.T, packed []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil || !filepath.IsLocal(h.Name) {
			t.Fatalf("the archive has the name %q, %v, want a local path", h.Name, err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			var b []byte
			if b, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(path, b, h.FileInfo().Mode())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func runGit(t *testing.T, dir string, args ...string) string {
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

func TestAWorkspaceOfBranchesIsAGitRepository(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	made := c.workspace("branch", file("main.go", "package main\n"), file("docs/ä b.md", "# Hi\n"))
	if made.text("codelab_id") != c.id || made.text("structure_type") != "branch" || made["branches"] != nil {
		t.Errorf("the new workspace is %v", made)
	}
	c.admin.post("/codeserver", record{"codelab_id": c.id, "structure_type": "folder"}).refused(409)
	if name := c.admin.post(c.code()+"/branch", record{"step_number": 1, "branch_type": "start"}).object().text("name"); name != "step-1-start" {
		t.Errorf("the new branch is %q, want step-1-start", name)
	}
	c.admin.post(c.code()+"/branch", record{"step_number": 1, "branch_type": "start"}).refused(409, "step-1-start")
	c.admin.post(c.code()+"/folder", record{"step_number": 1, "folder_type": "start"}).refused(409)
	start := c.code() + "/branches/step-1-start"
	c.admin.post(start+"/files", record{"files": []record{file("main.go", "package start\n"), file("a/b.txt", "x")}, "delete_files": []string{"docs/ä b.md"}, "commit_message": "Begin"}).want(200)
	// The next branch starts from the last one, or from the named branch. "" names none.
	c.admin.post(c.code()+"/branch", record{"step_number": 1, "branch_type": "end", "from": ""}).want(200)
	c.admin.post(c.code()+"/branch", record{"step_number": 2, "branch_type": "start", "from": "main"}).want(200)
	c.admin.post(c.code()+"/branch", record{"step_number": 3, "branch_type": "start", "from": "no-such"}).refused(404)
	for branch, want := range map[string]string{"main": "[docs/ä b.md main.go]", "step-1-start": "[a/b.txt main.go]", "step-1-end": "[a/b.txt main.go]", "step-2-start": "[docs/ä b.md main.go]"} {
		if got := fmt.Sprint(c.admin.get(c.code() + "/branches/" + branch + "/files").texts()); got != want {
			t.Errorf("%s contains %s", branch, got)
		}
	}
	if got := c.admin.get(c.code() + "/branches").texts(); !slices.Equal(got, []string{"main", "step-1-end", "step-1-start", "step-2-start"}) {
		t.Errorf("the branches are %v", got)
	}
	if got := fmt.Sprint(c.admin.get(c.code()).object()["branches"]); got != "[main step-1-end step-1-start step-2-start]" {
		t.Errorf("the branches are %v", got)
	}
	c.admin.get(c.code() + "/folders").refused(404)
	read := c.admin.get(c.code() + "/branches/main/file?file=docs/%C3%A4%20b.md").want(200)
	if string(read.body) != "# Hi\n" || read.header.Get("Content-Type") != "text/plain; charset=utf-8" || read.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("read %q %v", read.body, read.header)
	}
	c.admin.get(start + "/file?file=docs/%C3%A4%20b.md").refused(404)
	c.admin.get(start + "/file?file=a").refused(404)
	c.admin.post(start+"/files", record{"delete_files": []string{"no-such"}}).refused(404)
	c.admin.post(start+"/files", record{"files": []record{file("MAIN.go", "")}}).refused(400, "spelling")
	c.admin.post(start+"/files", record{"files": []record{file("main.go/x", "")}}).refused(400, "file and a folder")
	c.admin.post(start+"/files", record{"files": []record{}}).refused(400, "files")

	got := c.admin.get(c.code() + "/download").want(200)
	dir := untar(t, got.body)
	if status := runGit(t, dir, "status", "--porcelain"); status != "" {
		t.Errorf("the download is not clean: %s", status)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	runGit(t, dir, "clone", "-q", "-b", "step-1-end", dir, clone)
	if b, err := os.ReadFile(filepath.Join(clone, "main.go")); err != nil || string(b) != "package start\n" {
		t.Errorf("main.go in the clone is %q %v", b, err)
	}
	if log := runGit(t, clone, "log", "--format=%an: %s"); log != "Facilitator: Begin\nFacilitator: Create the workspace" {
		t.Errorf("the log is %s", log)
	}
	c.admin.delete(c.code()).want(204)
	c.admin.get(c.code()).refused(404)
	c.admin.get(c.code() + "/branches/main/files").refused(404)
	audited := c.audited()
	slices.Reverse(audited)
	if want := []string{
		"codelab_create", "codelab_steps_update", "workspace_create", "workspace_branch_create", "workspace_update", "workspace_branch_create",
		"workspace_branch_create", "workspace_download", "workspace_delete",
	}; !slices.Equal(audited, want) {
		t.Errorf("the audited actions are %v", audited)
	}
	c.workspace("folder") // after the deletion, the codelab can have another workspace
}

func TestAWorkspaceOfFoldersCanBeWrittenAndDownloaded(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.workspace("folder")
	if got := c.admin.get(c.code() + "/folders").texts(); len(got) != 0 {
		t.Errorf("the folders are %v", got)
	}
	c.admin.post(c.code()+"/folder", record{"step_number": 1, "folder_type": "start", "files": []record{file("a.txt", "1"), file("b/c", "2")}}).want(200)
	c.admin.post(c.code()+"/folder", record{"step_number": 1, "folder_type": "end"}).want(200)
	c.admin.post(c.code()+"/folder", record{"step_number": 2, "folder_type": "start", "files": []record{}}).want(200)
	end := c.code() + "/folders/step-1-end"
	c.admin.post(end+"/files", record{"files": []record{file("a.txt", "changed")}, "delete_files": []string{"b/c"}}).want(200)
	for folder, want := range map[string]string{"step-1-start": "[a.txt b/c]", "step-1-end": "[a.txt]", "step-2-start": "[]"} {
		if got := fmt.Sprint(c.admin.get(c.code() + "/folders/" + folder + "/files").texts()); got != want {
			t.Errorf("%s contains %s", folder, got)
		}
	}
	for folder, want := range map[string]string{"step-1-start": "1", "step-1-end": "changed"} {
		if got := c.admin.get(c.code() + "/folders/" + folder + "/file?file=a.txt").want(200); string(got.body) != want {
			t.Errorf("a.txt in %s is %q", folder, got.body)
		}
	}
	dir := untar(t, c.admin.get(c.code()+"/download").want(200).body)
	if b, err := os.ReadFile(filepath.Join(dir, "step-1-start", "b", "c")); err != nil || string(b) != "2" {
		t.Errorf("the downloaded file is %q %v", b, err)
	}
}

func TestConcurrentWritesToBranchesDoNotMix(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.workspace("branch", file("shared", "x"))
	var wg sync.WaitGroup
	for i := 1; i <= 6; i++ {
		c.admin.post(c.code()+"/branch", record{"step_number": i, "branch_type": "start", "from": "main"}).want(200)
		wg.Go(func() {
			for n := range 5 {
				path := fmt.Sprintf("%s/branches/step-%d-start/files", c.code(), i)
				if got := c.admin.send(http.MethodPost, path, record{"files": []record{file(fmt.Sprintf("of-%d/%d", i, n), "x")}}); got.status != 200 {
					t.Errorf("status %d %s", got.status, got.body)
				}
			}
		})
	}
	wg.Wait()
	for i := 1; i <= 6; i++ {
		got := c.admin.get(fmt.Sprintf("%s/branches/step-%d-start/files", c.code(), i)).texts()
		want := []string{"shared"}
		for n := range 5 {
			want = append(want, fmt.Sprintf("of-%d/%d", i, n))
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("branch %d contains %v", i, got)
		}
	}
}

func TestAWorkspaceIsRemovedWithItsCodelab(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	c.workspace("branch", file("a", "1"))
	other := newClassOn(t, s.Addr(), record{"title": "stays"})
	other.workspace("folder", file("a", "1"))
	dir := filepath.Join(cfg.Server.Data, "objects", "workspaces")
	if n := count(t, dir); n != 2 {
		t.Errorf("%d workspaces are on disk, want 2", n)
	}
	c.admin.delete(c.path).want(204)
	c.admin.get(c.code()).refused(404)
	if n := count(t, dir); n != 1 {
		t.Errorf("%d workspaces are on disk, want 1", n)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	// Trees that belong to a codelab stay. Old trees without a codelab are quarantined.
	old := filepath.Join(dir, unknownID, "made-git")
	if err := os.Mkdir(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * cfg.Files.Grace.Std())
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	addr := startServer(t, cfg).Addr()
	c.eventually("unused workspaces are quarantined", func() bool {
		return exists(filepath.Join(cfg.Server.Data, "objects", "aside", "workspaces", unknownID, "made-git"))
	})
	if n := count(t, filepath.Join(cfg.Server.Data, "objects", "aside", "workspaces")); n != 1 {
		t.Errorf("%d workspaces are quarantined, want 1", n)
	}
	b := facilitator(t, addr, "")
	if got := b.get(other.code() + "/folders/main/file?file=a").want(200); string(got.body) != "1" {
		t.Errorf("read %q", got.body)
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// everyFile returns the branch or folder, path and content of every file of a workspace.
func (c *class) everyFile(b *browser) string {
	c.t.Helper()
	var out strings.Builder
	record := b.get(c.code()).object()
	for kind, plural := range map[string]string{"branch": "branches", "folder": "folders"} {
		if record.text("structure_type") != kind {
			continue
		}
		for _, name := range b.get(c.code() + "/" + plural).texts() {
			for _, path := range b.get(c.code() + "/" + plural + "/" + name + "/files").texts() {
				fmt.Fprintf(&out, "%s %s %s\n", name, path, b.get(c.code()+"/"+plural+"/"+name+"/file?file="+path).want(200).body)
			}
		}
	}
	return out.String()
}

func TestABackupContainsConsistentWorkspacesWhileTheyChange(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.WritesPerMinute = 0
	s := startServer(t, cfg)
	git, plain := newClassOn(t, s.Addr(), record{"title": "git"}), newClassOn(t, s.Addr(), record{"title": "plain"})
	git.workspace("branch", file("a", "x"), file("dir/b", "x"))
	plain.workspace("folder", file("a", "x"), file("dir/b", "x"))
	git.admin.post(git.code()+"/branch", record{"step_number": 1, "branch_type": "end"}).want(200)
	plain.admin.post(plain.code()+"/folder", record{"step_number": 1, "folder_type": "end"}).want(200)

	var saved [][]byte
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i, path := range []string{git.code() + "/branches/main/files", plain.code() + "/folders/main/files"} {
		admin := []*class{git, plain}[i].admin
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				// Both files change together, so a mixture of two states is an error.
				v := fmt.Sprint(n)
				if got := admin.send(http.MethodPost, path, record{"files": []record{file("a", v), file("dir/b", v)}}); got.status != 200 {
					t.Errorf("status %d %s", got.status, got.body)
				}
			}
		})
	}
	for range 5 {
		saved = append(saved, backup(t, cfg.Server.Data))
	}
	close(stop)
	wg.Wait()
	saved = append(saved, backup(t, cfg.Server.Data))
	last := git.everyFile(git.admin) + plain.everyFile(plain.admin)
	packed := map[string][]byte{}
	for _, path := range []string{git.code() + "/download", plain.code() + "/download"} {
		packed[path] = git.admin.get(path).want(200).body
	}
	for i, b := range saved {
		restored := testConfig(t)
		restore(t, restored, b)
		addr := startServer(t, restored).Addr()
		admin := facilitator(t, addr, "")
		got := git.everyFile(admin) + plain.everyFile(admin)
		for _, of := range []string{git.code() + "/branches", plain.code() + "/folders"} {
			a, b := admin.get(of+"/main/file?file=a").want(200).body, admin.get(of+"/main/file?file=dir/b").want(200).body
			if !bytes.Equal(a, b) {
				t.Errorf("the backup contains a torn state of %s: %s and %s", of, a, b)
			}
		}
		if i == 5 && got != last {
			t.Errorf("the restored files are\n%s\nsaved\n%s", got, last)
		}
		for path, want := range packed {
			if i == 5 && !bytes.Equal(admin.get(path).want(200).body, want) {
				t.Errorf("%s differs after the restore", path)
			}
		}
		dir := untar(t, admin.get(git.code()+"/download").want(200).body)
		runGit(t, dir, "fsck", "--full", "--strict")
		// After the restore, the workspaces can be written.
		admin.post(git.code()+"/branches/main/files", record{"files": []record{file("new", "x")}}).want(200)
		admin.post(plain.code()+"/folders/main/files", record{"files": []record{file("new", "x")}}).want(200)
	}
}

func TestOnlyFacilitatorsSeeAnUnsharedWorkspace(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{})
	c.workspace("branch", file("a", "1"))
	lin := c.attendee("Lin")
	lin.get(c.code()).refused(403)
	lin.get(c.code() + "/download").refused(403)
	lin.post(c.code()+"/branches/main/files", record{"files": []record{file("a", "2")}}).refused(403)
	open(t, c.addr).get(c.code() + "/branches/main/file?file=a").refused(401)
}

func TestAcknowledgedFilesSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	data, path := t.TempDir(), binary(t)
	cmd, addr := run(t, path, data)
	git, plain := newClassOn(t, addr, record{"title": "git"}), newClassOn(t, addr, record{"title": "plain"})
	git.workspace("branch", file("a", "1"))
	plain.workspace("folder", file("a", "1"))
	for round := range 3 {
		var wg sync.WaitGroup
		acknowledged := make([]string, 2)
		enough := make(chan struct{})
		kill := sync.OnceFunc(func() { close(enough) })
		var writing atomic.Int32 // writers with an acknowledged write
		for i, of := range []string{git.code() + "/branches/main/files", plain.code() + "/folders/main/files"} {
			admin := []*class{git, plain}[i].admin
			wg.Go(func() {
				defer kill() // if the test fails
				for n := 0; ; n++ {
					v := fmt.Sprint(round, ".", n)
					body, _ := json.Marshal(record{"files": []record{file("a", v), file("dir/b", v)}})
					req, err := http.NewRequest(http.MethodPost, anyNode(admin.base)+"/api"+of, bytes.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					req.Header.Set("Content-Type", "application/json")
					admin.authenticate(req)
					res, err := admin.http.Do(req)
					if err != nil {
						return // the server was killed
					}
					_ = res.Body.Close()
					if res.StatusCode == 200 {
						if acknowledged[i] == "" {
							writing.Add(1)
						}
						acknowledged[i] = v
					}
					if n >= 20 && i == 0 && writing.Load() == 2 {
						kill()
					}
				}
			})
		}
		<-enough
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		wg.Wait()
		cmd, addr = run(t, path, data)
		git.admin, plain.admin = facilitator(t, addr, ""), facilitator(t, addr, "")
		for i, of := range []string{git.code() + "/branches/main/file?file=", plain.code() + "/folders/main/file?file="} {
			admin := []*class{git, plain}[i].admin
			a, b := string(admin.get(of+"a").want(200).body), string(admin.get(of+"dir/b").want(200).body)
			// Changes in progress can also be stored, but only as a whole.
			if acknowledged[i] == "" {
				t.Errorf("round %d, %d: no write was acknowledged before the server was killed", round, i)
			}
			if a != b || !atLeast(a, acknowledged[i]) {
				t.Errorf("round %d, %d: a is %s, b is %s, acknowledged was %s", round, i, a, b, acknowledged[i])
			}
		}
		dir := untar(t, git.admin.get(git.code()+"/download").want(200).body)
		runGit(t, dir, "fsck", "--full", "--strict")
	}
}

// atLeast compares values of the form "round.number".
func atLeast(got, want string) bool {
	var a, b, c, d int
	_, _ = fmt.Sscanf(got, "%d.%d", &a, &b)
	_, _ = fmt.Sscanf(want, "%d.%d", &c, &d)
	return a > c || a == c && b >= d
}
