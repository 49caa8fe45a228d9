package acceptance

import (
	"path/filepath"
	"strings"
	"testing"
)

// copied returns a copy of the codelab.
func (c *class) copied() *class {
	c.t.Helper()
	other := *c
	other.id = c.admin.post(c.path+"/copy", nil).object().text("id")
	other.path = "/codelabs/" + other.id
	return &other
}

func TestACopiedCodelabHasACopyOfItsWorkspace(t *testing.T) {
	t.Parallel()
	for kind, plural := range map[string]string{"branch": "branches", "folder": "folders"} {
		for _, first := range []string{"original", "copy"} {
			cfg := testConfig(t)
			s := startUntilStopped(t, cfg)
			c := newClassOn(t, s.Addr(), record{})
			run := file("run.sh", "#!/bin/sh\n")
			run["mode"] = "100755"
			c.workspace(kind, run, file("a", "1"))
			c.admin.post(c.code()+"/"+kind, record{"step_number": 1, kind + "_type": "start"}).want(200)
			start := "/" + plural + "/step-1-start/files"
			c.admin.post(c.code()+start, record{"files": []record{file("a", "2")}}).want(200)

			other := c.copied()
			want := c.everyFile(c.admin)
			if got := other.everyFile(c.admin); got != want || !strings.Contains(got, "step-1-start a 2") {
				t.Errorf("%s: the copy contains\n%s\nthe original\n%s", kind, got, want)
			}
			if got, want := other.described(other.code()+"/"+plural+"/step-1-start"), c.described(c.code()+"/"+plural+"/step-1-start"); got != want || !strings.Contains(got, "100755") {
				t.Errorf("%s: the copy is described as\n%s", kind, got)
			}
			// In the copy, too, the next branch starts from the last one.
			other.admin.post(other.code()+"/"+kind, record{"step_number": 1, kind + "_type": "end"}).want(200)
			if got := other.everyFile(c.admin); !strings.Contains(got, "step-1-end a 2") {
				t.Errorf("%s: after a new branch, the copy contains\n%s", kind, got)
			}
			// A write to the copy does not change the original.
			other.admin.post(other.code()+start, record{"files": []record{file("a", "of the copy")}}).want(200)
			if got := c.everyFile(c.admin); got != want {
				t.Errorf("%s: after a write into the copy, the original contains\n%s", kind, got)
			}
			gone, stays := c, other
			if first == "copy" {
				gone, stays = other, c
			}
			want = stays.everyFile(c.admin)
			gone.admin.delete(gone.path).want(204)
			if n := count(t, filepath.Join(cfg.Server.Data, "objects", "workspaces")); n != 1 {
				t.Errorf("%s: %d workspaces are on disk, want 1", kind, n)
			}
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			admin := facilitator(t, startServer(t, cfg).Addr(), "")
			if got := stays.everyFile(admin); got != want {
				t.Errorf("%s: after deleting the %s and a restart, the other contains\n%s\nwant\n%s", kind, first, got, want)
			}
			admin.get(stays.code() + "/download").want(200)
			admin.post(stays.code()+start, record{"files": []record{file("b", "new")}}).want(200)
		}
	}
}

func TestACopyOfACodelabWithoutAWorkspaceHasNone(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.admin.get(c.copied().code()).refused(404)
}
