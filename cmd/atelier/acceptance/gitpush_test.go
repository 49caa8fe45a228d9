package acceptance

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a file in a clone and commits it.
func (g *gitClient) write(dir, path string, content []byte, message string) {
	g.t.Helper()
	at := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(at, content, 0o644); err != nil {
		g.t.Fatal(err)
	}
	g.run(dir, "add", "-A")
	g.run(dir, "commit", "-q", "-m", message)
}

// noise returns content that cannot be compressed and is the same each time.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

func TestCodeCanBePushed(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := taughtCode(t, "branch", record{"share_code": "all"})
	at := c.tokenURL(c.token("import"))
	dir := g.clone(at)
	// A small change of a text arrives as a delta of the stored file. An unchanged folder is not
	// sent.
	long := bytes.Repeat([]byte("a line of a text that is long enough\n"), 2000)
	g.write(dir, "docs/long.md", long, "Write")
	g.write(dir, "docs/other.md", []byte("other\n"), "And another")
	g.run(dir, "push", "-q", "origin", "main")
	g.write(dir, "docs/long.md", append(long, "an end\n"...), "End it")
	g.run(dir, "push", "-q", "origin", "main")
	if got := string(c.admin.get(c.code() + "/branches/main/file?file=docs/long.md").want(200).body); !strings.HasSuffix(got, "an end\n") {
		t.Errorf("main contains %.100q", got)
	}
	// One push contains a merge, a new branch, a deleted branch and a forced update.
	g.run(dir, "checkout", "-q", "-b", "side", "HEAD~1")
	g.write(dir, "run.sh", []byte("#!/bin/sh\n"), "Run")
	g.run(dir, "update-index", "--chmod=+x", "run.sh")
	g.run(dir, "commit", "-q", "-m", "May run")
	g.run(dir, "reset", "-q", "--hard")
	g.run(dir, "checkout", "-q", "main")
	g.run(dir, "merge", "-q", "-m", "Merge", "side")
	g.run(dir, "push", "-q", "--atomic", "origin", "main", "side:step-4-start", ":step-3-end", "+side:step-1-start")
	if got := c.admin.get(c.code() + "/branches").texts(); fmt.Sprint(got) != "[main step-1-end step-1-start step-2-end step-2-start step-3-start step-4-start]" {
		t.Errorf("the branches are %v", got)
	}
	if got := c.audited(); got[0] != "git_push" || got[1] != "git_push" || got[2] != "git_push" {
		t.Errorf("the audited actions are %v", got[:4])
	}
	other := g.clone(at)
	if got := g.run(other, "rev-parse", "HEAD", "HEAD^2"); got != g.run(dir, "rev-parse", "main", "side") {
		t.Errorf("the clone has the commits %s", got)
	}
	if i, err := os.Stat(filepath.Join(other, "run.sh")); err != nil || i.Mode().Perm()&0o100 == 0 {
		t.Errorf("run.sh is %v %v", i, err)
	}
	g.run(other, "fsck", "--strict")
	// A commit through REST builds on pushed commits, and a push builds on commits through REST.
	c.admin.post(c.code()+"/branches/main/files", record{"files": []record{file("new", "by REST")}, "commit_message": "By REST"}).want(200)
	g.write(dir, "old", []byte("x"), "Without what is new")
	g.fails(dir, []string{"push", "-q", "origin", "main"}, "fetch first")
	g.run(dir, "pull", "-q", "--rebase")
	g.run(dir, "push", "-q", "origin", "main")
	packed := untar(t, c.admin.get(c.code()+"/download").want(200).body)
	g.run(packed, "fsck", "--strict")
	if got := g.run(packed, "rev-parse", "main"); got != g.run(dir, "rev-parse", "main") {
		t.Errorf("the downloaded repository is at %s", got)
	}
	// The push is larger than one request chunk of the client, and attendees receive it.
	g.run(dir, "checkout", "-q", "-b", "big")
	g.write(dir, "big.bin", noise(3<<20), "Large")
	// Some clients first send "Expect: 100-continue".
	asks := []string{"-c", "http.extraHeader=Expect: 100-continue"}
	g.run(dir, append(asks, "push", "-q", "origin", "big:step-9-end")...)
	g.fails(dir, append(asks, "push", "-q", c.tokenURL("wrong"), "big:step-9-start"), "Authentication failed")
	clone := g.clone(c.gitURL(c.attendee("Lin").browser), "--branch=step-9-end")
	g.run(clone, append(asks, "fetch", "-q", "--refetch")...)
	if got := contentOf(t, clone, "big.bin"); got != string(bytes.TrimSpace(noise(3<<20))) {
		t.Error("the large file arrived with other content")
	}
	copied := c.copied()
	if got := g.run(g.clone(copied.tokenURL(c.token("read"))), "rev-parse", "HEAD"); got != g.run(dir, "rev-parse", "main") {
		t.Errorf("the copy is at %s", got)
	}
}

func TestUnstorablePushesAreRefused(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := taughtCode(t, "branch", record{})
	at := c.tokenURL(c.token("all"))
	dir := g.clone(at)
	before := g.run(dir, "ls-remote", "origin")
	try := func(change func(), parts ...string) {
		t.Helper()
		g.run(dir, "checkout", "-q", "-B", "try", "origin/main")
		change()
		g.fails(dir, []string{"push", "-q", "--atomic", "origin", "try:main", "try:new"}, append(parts, "remote rejected")...)
		if now := g.run(dir, "ls-remote", "origin"); now != before {
			t.Errorf("the remote refs are now\n%s", now)
		}
		g.run(dir, "reset", "-q", "--hard", "origin/main")
	}
	commit := func() { g.run(dir, "commit", "-q", "-m", "Try") }
	index := func(mode, path string) func() {
		return func() {
			blob := g.run(dir, "rev-parse", "HEAD:secret")
			if mode == "160000" {
				blob = g.run(dir, "rev-parse", "HEAD")
			}
			g.run(dir, "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "update-index", "--add", "--cacheinfo", mode+","+blob+","+path)
			commit()
		}
	}
	try(index("120000", "link"), `"link" is a symbolic link`)
	try(index("160000", "sub"), `"sub" is a submodule`)
	try(index("100644", "SECRET"), "another spelling")
	try(index("100644", "a:b"), "Windows cannot check out")
	try(index("100644", "git~1"), "leads into .git")
	try(index("100644", "nul/x"), "Windows cannot check out")
	try(func() { g.write(dir, "huge", bytes.Repeat([]byte("x"), 8<<20+1), "Huge") }, "larger than 8 MiB")
	try(func() {
		for i := range 2001 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		g.run(dir, "add", "-A")
		commit()
	}, "more than 2000 files")
	g.fails(dir, []string{"push", "-q", "origin", ":main"}, "the branch main cannot be removed")
	g.fails(dir, []string{"push", "-q", "origin", "HEAD:refs/heads/Upper"}, "a name must match")
	g.run(dir, "tag", "v1")
	g.fails(dir, []string{"push", "-q", "origin", "v1"}, "this server stores only branches")
	if now := g.run(dir, "ls-remote", "origin"); now != before {
		t.Errorf("the remote refs are now\n%s", now)
	}
	for _, scope := range []string{"read"} {
		g.fails(dir, []string{"push", "-q", c.tokenURL(c.token(scope)), "HEAD:main"}, "403")
	}
	g.fails(dir, []string{"push", "-q", c.gitURL(c.admin), "HEAD:main"}, "403")
	folders := taughtCode(t, "folder", record{})
	g.fails(dir, []string{"push", "-q", folders.tokenURL(c.token("all")), "HEAD:main"}, "not found")
}

// A broken pack is reported in the format of Git's own server. The client then shows whether the
// pack or a branch failed.
func TestADamagedPackIsReportedInGitsFormat(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := taughtCode(t, "branch", record{})
	at := c.tokenURL(c.token("all"))
	dir := g.clone(at + ".git") // people also write the address with .git
	tip := g.run(dir, "rev-parse", "HEAD")
	line := func(format string, args ...any) string {
		s := fmt.Sprintf(format, args...)
		return fmt.Sprintf("%04x%s", len(s)+4, s)
	}
	pushed := line("%s %s refs/heads/new\x00report-status\n", strings.Repeat("0", 40), tip) + "0000" + "PACK\x00\x00\x00\x02\x00\x00\x00\x01 no object is here"
	answer, err := http.Post(at+".git/git-receive-pack", "application/x-git-receive-pack-request", strings.NewReader(pushed))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("the push returned %d, %v", answer.StatusCode, err)
	}
	if !strings.HasPrefix(string(body[4:]), "unpack the pack ") || !strings.HasSuffix(string(body), line("ng refs/heads/new unpacker error\n")+"0000") {
		t.Errorf("the response is %q", body)
	}
	if now := g.run(dir, "ls-remote", "origin", "refs/heads/new"); now != "" {
		t.Errorf("the refused branch exists: %s", now)
	}
}
