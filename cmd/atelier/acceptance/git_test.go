package acceptance

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitClient is the git program with its own home folder. If git is missing, the test is skipped,
// or fails with NEED_PROGRAMS=1.
type gitClient struct {
	t    testing.TB
	home string
}

func newGit(t testing.TB) *gitClient {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("NEED_PROGRAMS") != "" {
			t.Fatal("git is not installed")
		}
		t.Skip("git is not installed")
	}
	return &gitClient{t, t.TempDir()}
}

// try runs git and returns its output.
func (g *gitClient) try(dir string, args ...string) (string, error) {
	return g.tryFed(dir, "", args...)
}

func (g *gitClient) tryFed(dir, input string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = []string{
		"HOME=" + g.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Lin", "GIT_AUTHOR_EMAIL=lin@example.org", "GIT_COMMITTER_NAME=Lin", "GIT_COMMITTER_EMAIL=lin@example.org",
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (g *gitClient) run(dir string, args ...string) string {
	g.t.Helper()
	out, err := g.try(dir, args...)
	if err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// fed runs git with the given standard input.
func (g *gitClient) fed(dir, input string, args ...string) {
	g.t.Helper()
	if out, err := g.tryFed(dir, input, args...); err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// fails runs git, which must fail and print each of the parts.
func (g *gitClient) fails(dir string, args []string, parts ...string) {
	g.t.Helper()
	out, err := g.try(dir, args...)
	if err == nil {
		g.t.Fatalf("git %v succeeded:\n%s", args, out)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			g.t.Errorf("the output of git %v lacks %q:\n%s", args, part, out)
		}
	}
}

// shutOut runs git, which must fail because its secret is no longer valid. The node that made the
// change refuses immediately, and other nodes refuse within a second.
func (g *gitClient) shutOut(dir string, args ...string) {
	g.t.Helper()
	if common.nodes != nil {
		eventual(g.t, "the refusal of git", func() bool { _, err := g.try(dir, args...); return err != nil })
	}
	g.fails(dir, args, "Authentication failed")
}

// clone clones a repository and returns its folder.
func (g *gitClient) clone(from string, args ...string) string {
	g.t.Helper()
	dir := filepath.Join(g.t.TempDir(), "clone")
	g.run(g.home, append(append([]string{"clone", "-q"}, args...), from, dir)...)
	return dir
}

// gitURL returns the address of the code, which contains a person's secret.
func (c *class) gitURL(b *browser) string {
	c.t.Helper()
	got := b.post(c.path+"/git-access", nil).object()
	u, err := url.Parse(got.text("url"))
	if err != nil || u.Path != "/git/"+c.id || got.text("username") != "x" || got.text("expires_at") == "" {
		c.t.Fatalf("the clone URL is %v, %v", got.text("url"), err)
	}
	u.User = url.UserPassword("x", got.text("password"))
	return u.String()
}

// tokenURL returns the address at which an API token reads and writes the code.
func (c *class) tokenURL(token string) string {
	return "http://x:" + token + "@" + c.addr + "/git/" + c.id
}

func (c *class) token(scope string) string {
	c.t.Helper()
	return c.admin.post("/admin/tokens", record{"name": "git of " + c.t.Name(), "scope": scope}).object().text("token")
}

func contentOf(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b))
}

func TestAttendeesCanCloneSharedStates(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := taughtCode(t, "branch", record{"share_code": "pointed"})
	lin := c.attendee("Lin")
	at := c.gitURL(lin.browser)
	dir := g.clone(at)
	if got := contentOf(t, dir, "a", "name.txt"); got != "step-1-start" {
		t.Errorf("the file after the checkout has %q, want step-1-start", got)
	}
	if got := g.run(dir, "branch", "-r", "--format=%(refname)"); got != "refs/remotes/origin/HEAD\nrefs/remotes/origin/step-1-start" {
		t.Errorf("the branches are %s", got)
	}
	if got := g.run(dir, "log", "--format=%an <%ae> %s", "origin/step-1-start"); got != "Atelier <codelab@atelier.invalid> step-1-start" {
		t.Errorf("the log is %s", got)
	}
	g.run(dir, "ls-remote", at+".git") // people also write the address with .git
	first := g.run(dir, "rev-parse", "origin/step-1-start")
	// New commits extend the earlier ones.
	c.point(3)
	g.run(dir, "fetch", "-q")
	g.run(dir, "fetch", "-q") // nothing has changed
	if got := g.run(dir, "log", "--format=%s", "origin/step-3-start"); got != "step-3-start\nstep-2-end\nstep-2-start\nstep-1-end\nstep-1-start" {
		t.Errorf("the log is %s", got)
	}
	if got := g.run(dir, "rev-parse", "origin/step-1-start"); got != first {
		t.Errorf("the first commit is now %s, was %s", got, first)
	}
	if got := g.run(dir, "show", "origin/step-2-end:a/name.txt"); got != "step-2-end" {
		t.Errorf("the end of step 2 has %q, want step-2-end", got)
	}
	g.run(dir, "fsck", "--strict")
	// A new clone has the same commits, and starts at the latest one.
	other := g.clone(at)
	if a, b := g.run(other, "rev-parse", "HEAD"), g.run(dir, "rev-parse", "origin/step-3-start"); a != b {
		t.Errorf("HEAD is %s, want the latest commit %s", a, b)
	}
	// A clone without a secret, with a wrong secret or with another codelab's secret is refused.
	g.fails(g.home, []string{"clone", "http://" + c.addr + "/git/" + c.id, "no"}, "terminal prompts disabled")
	g.fails(g.home, []string{"clone", "http://x:wrong@" + c.addr + "/git/" + c.id, "no"}, "Authentication failed")
	elsewhere := taughtCode(t, "branch", record{"share_code": "all"})
	foreign := strings.Replace(elsewhere.gitURL(elsewhere.attendee("Max").browser), elsewhere.id, c.id, 1)
	g.fails(g.home, []string{"clone", foreign, "no"}, "Authentication failed")
	// A personal secret does not allow a push. A fetch is refused if no state is shared.
	g.fails(dir, []string{"push", "-q", "origin", "HEAD:step-1-start"}, "403")
	c.admin.put(c.path, record{"share_code": "none"}).want(200)
	g.fails(dir, []string{"fetch"}, "403")
	lin.post(c.path+"/git-access", nil).refused(403)
	c.admin.put(c.path, record{"share_code": "all"}).want(200)
	g.run(dir, "fetch", "-q")
	lin.post("/logout", record{}).want(204)
	g.shutOut(dir, "fetch")
}

func TestShallowClonesAreDeepened(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := taughtCode(t, "branch", record{"share_code": "all"})
	at := c.gitURL(c.attendee("Lin").browser)
	dir := g.clone(at, "--depth=2", "--branch=step-3-end")
	log := func(want string) {
		t.Helper()
		if got := g.run(dir, "log", "--format=%s"); got != want {
			t.Errorf("the log is %q, want %q", got, want)
		}
	}
	log("step-3-end\nstep-3-start")
	g.run(dir, "fetch", "-q", "--deepen=1")
	log("step-3-end\nstep-3-start\nstep-2-end")
	g.run(dir, "fetch", "-q")
	g.run(dir, "fetch", "-q", "--depth=1")
	log("step-3-end")
	g.run(dir, "fetch", "-q", "--unshallow")
	log("step-3-end\nstep-3-start\nstep-2-end\nstep-2-start\nstep-1-end\nstep-1-start")
	g.run(dir, "fsck", "--strict")
	g.run(dir, "fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
	g.run(dir, "fsck", "--strict")
}

func TestFacilitatorsCloneTheWholeRepository(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := taughtCode(t, "branch", record{})
	for what, at := range map[string]string{
		"facilitator": c.gitURL(c.admin), "all": c.tokenURL(c.token("all")), "read": c.tokenURL(c.token("read")), "import": c.tokenURL(c.token("import")),
		"assistant": c.gitURL(c.assistant("git-assistant@example.org").browser),
	} {
		dir := g.clone(at)
		if got := contentOf(t, dir, "secret"); got != "of main" {
			t.Errorf("%s: main has %q", what, got)
		}
		if got := g.run(dir, "log", "--format=%s", "origin/step-2-end"); got != "The secret of step-2-end\nCreate the workspace" {
			t.Errorf("%s: the log is %s", what, got)
		}
		if got := g.run(dir, "ls-remote", "--heads", "origin"); strings.Count(got, "\n") != 6 {
			t.Errorf("%s: the heads of the remote are\n%s", what, got)
		}
		g.run(dir, "fsck", "--strict")
		c.admin.post(c.code()+"/branches/main/files", record{"files": []record{file("of", what)}, "commit_message": "for " + what}).want(200)
		g.run(dir, "pull", "-q")
		// The audit trail names the branch that was fetched.
		if last := c.newest("workspace_download"); last["metadata"].(map[string]any)["name"] != "main" {
			t.Errorf("%s: the audit trail has %v", what, last)
		}
		if got := contentOf(t, dir, "of"); got != what {
			t.Errorf("%s: the pulled file has %q", what, got)
		}
	}
	folders := taughtCode(t, "folder", record{"share_code": "all"})
	folders.admin.post(folders.path+"/git-access", nil).refused(404, "folders")
	g.fails(g.home, []string{"clone", folders.tokenURL(c.token("all")), "no"}, "not found")
}

// The test uses the maximum number of branches of a workspace. The lists of wanted and existing
// commits are then longer than one Git packet, and compressed.
func TestHundredsOfBranchesAreFetchedAtOnce(t *testing.T) {
	t.Parallel()
	inLongRuns(t, "TestFacilitatorsCloneTheWholeRepository fetches a few")
	g := newGit(t)
	c := newClassOn(t, common.get(t).Addr(), record{"share_code": "all"})
	c.workspace("branch", file("main.txt", "of main"))
	author := g.clone(c.tokenURL(c.token("all")))
	states := func(from, to int, word string) {
		var stream strings.Builder
		for step := from; step <= to; step++ {
			for _, which := range []string{"start", "end"} {
				text := fmt.Sprintf("%s step-%d-%s", word, step, which)
				fmt.Fprintf(&stream, "commit refs/heads/step-%d-%s\ncommitter Lin <lin@example.org> 1000000000 +0000\ndata 1\nx\n", step, which)
				fmt.Fprintf(&stream, "from refs/remotes/origin/main\nM 644 inline state.txt\ndata %d\n%s\n", len(text), text)
			}
		}
		g.fed(author, stream.String(), "fast-import", "--quiet", "--force")
		g.run(author, "push", "-q", "--force", "origin", "refs/heads/step-*:refs/heads/step-*")
	}
	states(1, 150, "first")
	at := c.gitURL(c.attendee("Lin").browser)
	dir := g.clone(at)
	branches := func() int {
		return len(strings.Fields(g.run(dir, "for-each-ref", "--format=%(refname)", "refs/remotes/origin/step-*")))
	}
	if n := branches(); n != 300 {
		t.Errorf("%d branches were cloned, want 300", n)
	}
	// The steps from 101 on change, so the client requests 100 new commits. It has the 300 earlier
	// ones and 40 of its own.
	states(101, 150, "second")
	for i := range 40 {
		g.write(dir, "own.txt", []byte(fmt.Sprint(i)), "of one's own")
	}
	g.run(dir, "fetch", "-q")
	if got := g.run(dir, "show", "origin/step-150-end:state.txt"); got != "second step-150-end" || branches() != 300 {
		t.Errorf("there are %d branches after the fetch, step-150-end has %q", branches(), got)
	}
	g.run(dir, "fsck", "--strict")
}

// The copy keeps the same branches after its original is deleted.
func TestACopyCanBeClonedAfterItsOriginalIsDeleted(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := taughtCode(t, "branch", record{"share_code": "all"})
	g.clone(c.gitURL(c.attendee("Lin").browser))
	run := c.copied()
	run.admin.put(run.path, record{"share_code": "all"}).want(200)
	c.admin.delete(c.code()).want(204)
	dir := g.clone(run.gitURL(run.attendee("Max").browser), "--branch=step-2-end", "--depth=1") // no earlier request has made this pack, so no copy is cached
	if got := contentOf(t, dir, "a", "name.txt"); got != "step-2-end" {
		t.Errorf("the copy has %q, want step-2-end", got)
	}
}
