package acceptance

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// taughtCode returns a class whose workspace has the states of three steps, each with a different
// file.
func taughtCode(t testing.TB, kind string, settings record) *class {
	t.Helper()
	c := newClassOn(t, common.get(t).Addr(), settings)
	c.workspace(kind, file("secret", "of main"))
	for step := 1; step <= 3; step++ {
		for _, which := range []string{"start", "end"} {
			name := fmt.Sprintf("step-%d-%s", step, which)
			c.admin.post(c.code()+"/"+kind, record{"step_number": step, kind + "_type": which, "from": "main"}).want(200)
			c.admin.post(c.code()+"/"+plural(kind)+"/"+name+"/files", record{
				"files": []record{file("a/name.txt", name)}, "delete_files": []string{"secret"}, "commit_message": "The secret of " + name,
			}).want(200)
		}
	}
	return c
}

func plural(kind string) string {
	return map[string]string{"branch": "branches", "folder": "folders"}[kind]
}

// point moves the pointer to a step.
func (c *class) point(step int) {
	c.t.Helper()
	c.admin.post(c.path+"/messages", record{"type": "pointer", "step_number": step}).want(200)
}

func TestAttendeesCanReadSharedCode(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"branch", "folder"} {
		c := taughtCode(t, kind, record{})
		lin := c.attendee("Lin")
		every := []string{"step-1-end", "step-1-start", "step-2-end", "step-2-start", "step-3-end", "step-3-start"}
		reads := func(what string, shared ...string) {
			t.Helper()
			if got := fmt.Sprint(lin.get(c.code()).object()[plural(kind)]); got != fmt.Sprint(shared) {
				t.Errorf("%s %s: the record has %v, want %v", kind, what, got, shared)
			}
			if got := lin.get(c.code() + "/" + plural(kind)).texts(); !slices.Equal(got, shared) {
				t.Errorf("%s %s: the list has %v, want %v", kind, what, got, shared)
			}
			for _, name := range append([]string{"main", "no-such"}, every...) {
				at := c.code() + "/" + plural(kind) + "/" + name
				ways := []string{at + "/files", at + "/tree", at + "/file?file=a/name.txt", c.code() + "/download?" + kind + "=" + name, c.code() + "/download?format=zip&" + kind + "=" + name}
				for _, way := range ways {
					if !slices.Contains(shared, name) {
						lin.get(way).refused(403, "not shared with attendees")
						continue
					}
					lin.get(way).want(200)
				}
				if slices.Contains(shared, name) {
					if got := string(lin.get(ways[2]).body); got != name {
						t.Errorf("the content of %s is %q", name, got)
					}
				}
			}
			lin.get(c.code() + "/download").refused(403)
		}
		share := func(how string) {
			t.Helper()
			if got := c.admin.put(c.path, record{"share_code": how}).object().text("share_code"); got != how {
				t.Fatalf("share_code is %q", got)
			}
		}
		for _, way := range []string{"", "/" + plural(kind), "/" + plural(kind) + "/step-1-start/files", "/download?" + kind + "=step-1-start", "/download"} {
			lin.get(c.code() + way).refused(403)
		}
		share("start")
		reads("without a pointer", "step-1-start")
		c.point(2)
		reads("at 2", "step-1-start", "step-2-start")
		share("pointed")
		reads("at 2", "step-1-end", "step-1-start", "step-2-start")
		c.point(3)
		reads("at 3", "step-1-end", "step-1-start", "step-2-end", "step-2-start", "step-3-start")
		share("all")
		reads("whatever is pointed at", every...)
		share("none")
		lin.get(c.code()).refused(403)
		c.admin.put(c.path, record{"share_code": "most"}).refused(400, "share_code must be none, start, pointed or all")
		// Facilitators can read everything. People who are not registered can read nothing.
		if got := c.admin.get(c.code() + "/" + plural(kind)).texts(); len(got) != 7 {
			t.Errorf("the list has %v", got)
		}
		share("all")
		open(t, c.addr).get(c.code()).refused(401)
		newClass(t).attendee("Max").get(c.code()).refused(403)
		lin.post(c.code()+"/"+plural(kind)+"/step-1-start/files", record{"files": []record{file("x", "")}}).refused(403)
	}
}

func TestASharedStateCanBeDownloaded(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"branch", "folder"} {
		c := taughtCode(t, kind, record{"share_code": "start"})
		run := file("run.sh", "#!/bin/sh\n")
		run["mode"] = "100755"
		c.admin.post(c.code()+"/"+plural(kind)+"/step-1-start/files", record{"files": []record{run}}).want(200)
		lin := c.attendee("Lin")
		at := c.code() + "/download?" + kind + "=step-1-start"
		got := lin.get(at).want(200)
		if name := got.header.Get("Content-Disposition"); name != `attachment; filename="step-1-start.tar.gz"` {
			t.Errorf("the disposition is %s", name)
		}
		dir := untar(t, got.body)
		if b, err := os.ReadFile(filepath.Join(dir, "a", "name.txt")); err != nil || string(b) != "step-1-start" {
			t.Errorf("name.txt in the archive is %q %v", b, err)
		}
		if i, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || i.Mode().Perm() != 0o755 {
			t.Errorf("run.sh in the archive is %v %v", i, err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
			t.Errorf("the archive contains %v %v", files, err)
		}
		packed := lin.get(at + "&format=zip").want(200)
		z, err := zip.NewReader(bytes.NewReader(packed.body), int64(len(packed.body)))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%s %s %s", f.Name, f.Mode(), b))
		}
		if want := []string{"a/name.txt -rw-r--r-- step-1-start", "run.sh -rwxr-xr-x #!/bin/sh\n"}; !slices.Equal(all, want) {
			t.Errorf("the ZIP contains %q", all)
		}
		lin.get(at+"&format=rar").refused(http.StatusBadRequest, "format")
		lin.get(at+"&branch=a&folder=b").refused(http.StatusBadRequest, "cannot be combined")
		lin.get(c.code()+"/download?"+kind+"=..").refused(http.StatusBadRequest, kind)
		c.admin.get(c.code() + "/download?format=zip").refused(http.StatusBadRequest)
		c.admin.get(c.code() + "/download?" + kind + "=no-such").refused(http.StatusNotFound)
		before := len(c.audited())
		lin.get(at).want(200)
		who := c.newest("workspace_download")
		if got := c.audited(); len(got) != before+1 || who.text("actor_id") != lin.id || who["metadata"].(map[string]any)["name"] != "step-1-start" {
			t.Errorf("the download is not in the audit trail: %v", who)
		}
		c.admin.get(at).want(200)
		if got := c.audited(); got[0] != "workspace_download" {
			t.Errorf("the audited actions are %v", got)
		}
	}
}

// code_taken covers downloads and Git fetches. A clone counts as the branch that it checks out.
// Another fetch counts as the last of its branches in the order of the workshop.
func TestFacilitatorsSeeWhoFetchedCode(t *testing.T) {
	t.Parallel()
	c := taughtCode(t, "branch", record{"share_code": "pointed"})
	lin, max := c.attendee("Lin"), c.attendee("Max")
	watch, other := c.admin.connect(c.id, ""), max.connect(c.id, "")
	taken := func(b *browser) string {
		t.Helper()
		got := b.get(c.path + "/attendees/" + lin.id).object()["code_taken"]
		if got == nil {
			return ""
		}
		return record(got.(map[string]any)).text("name")
	}
	// A HEAD request downloads nothing.
	lin.send("HEAD", c.code()+"/download?branch=step-1-start&format=zip", nil).want(200)
	if got := taken(c.admin); got != "" {
		t.Errorf("after a HEAD request, facilitators see %q", got)
	}
	lin.get(c.code() + "/download?branch=step-1-start&format=zip").want(200)
	if m := watch.next("code_taken"); m.text("attendee_id") != lin.id || m.text("name") != "step-1-start" {
		t.Errorf("facilitators received %v", m)
	}
	if a, b, others := taken(c.admin), taken(lin.browser), taken(max.browser); a != "step-1-start" || b != a || others != "" {
		t.Errorf("facilitators see %q, Lin %q, Max %q", a, b, others)
	}
	// A repetition is announced once, but recorded in the audit trail each time.
	before := len(c.audited())
	lin.get(c.code() + "/download?branch=step-1-start").want(200)
	c.admin.get(c.code() + "/download?branch=step-2-start").want(200) // this caller is not an attendee, so no code is counted as taken
	if got := len(c.audited()); got != before+2 {
		t.Errorf("%d audit records were added, want 2", got-before)
	}
	c.point(3)
	g := newGit(t)
	dir := g.clone(c.gitURL(lin.browser))
	if m := watch.next("code_taken"); m.text("name") != "step-3-start" || watch.count("code_taken") != 2 {
		t.Errorf("facilitators received %v", m)
	}
	who := c.newest("workspace_download")
	if who.text("actor_id") != lin.id || who["metadata"].(map[string]any)["name"] != "step-3-start" {
		t.Errorf("the audit trail has %v", who)
	}
	g.run(dir, "fetch", "-q") // nothing has changed, so nothing was taken
	if got := len(c.audited()); got != before+3 {
		t.Errorf("%d audit records were added, want 3", got-before)
	}
	max.post(c.path+"/messages", record{"type": "chat", "message": "end"}).want(200)
	other.next("chat")
	if other.count("code_taken") != 0 {
		t.Error("another attendee received code_taken")
	}
	// With "all", a clone also gets later branches, but counts as the branch of the pointer's step.
	c.admin.put(c.path, record{"share_code": "all"}).want(200)
	c.point(2)
	g.clone(c.gitURL(lin.browser))
	if got := taken(c.admin); got != "step-2-start" {
		t.Errorf("facilitators see %q, want step-2-start", got)
	}
	c.point(3)
	if got := contentOf(t, g.clone(c.gitURL(lin.browser)), "a", "name.txt"); got != "step-3-start" {
		t.Errorf("a new clone has the state %q, want step-3-start", got)
	}
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	if all := c.admin.get(c.path + "/attendees").list(); len(all) != 1 || all[0]["code_taken"] != nil {
		t.Errorf("the remaining attendees are %v", all)
	}
}
