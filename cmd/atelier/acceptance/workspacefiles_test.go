package acceptance

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// notText is content that is not text: it is not valid UTF-8, and contains a NUL.
var notText = []byte("\x89PNG\r\n\x1a\n\x00\xff\xfe\x80")

func binaryFile(path string, content []byte) record {
	return record{"path": path, "content": base64.StdEncoding.EncodeToString(content), "encoding": "base64"}
}

// described returns the tree of a branch or folder, with a line for each file.
func (c *class) described(head string) string {
	c.t.Helper()
	var out []string
	for _, f := range c.admin.get(head + "/tree").list() {
		out = append(out, fmt.Sprint(f["path"], " ", f["mode"], " ", f["size"], " ", f["binary"]))
	}
	return strings.Join(out, "\n")
}

func TestAWorkspaceKeepsBytesAndExecutableBits(t *testing.T) {
	t.Parallel()
	for kind, plural := range map[string]string{"branch": "branches", "folder": "folders"} {
		c := newClass(t)
		run := file("run.sh", "#!/bin/sh\necho hi\n")
		run["mode"] = "100755"
		text := file("a.txt", "\u00e4")
		text["encoding"] = "utf-8"
		tool := file("tool", "x")
		tool["mode"] = "100755"
		c.workspace(kind, run, binaryFile("logo.png", notText), text, tool)
		main := c.code() + "/" + plural + "/main"
		if got, want := c.described(main), "a.txt 100644 2 false\nlogo.png 100644 12 true\nrun.sh 100755 18 false\ntool 100755 1 false"; got != want {
			t.Errorf("%s: the tree is\n%s", kind, got)
		}
		// The file can be read as bytes and as an object.
		if got := c.admin.get(main + "/file?file=logo.png").want(200); !bytes.Equal(got.body, notText) || got.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: read %q", kind, got.body)
		}
		if got := c.admin.get(main + "/file?file=logo.png&format=json").object(); fmt.Sprint(got) != fmt.Sprint(record{
			"path": "logo.png", "mode": "100644", "size": 12, "binary": true, "content": base64.StdEncoding.EncodeToString(notText), "encoding": "base64",
		}) {
			t.Errorf("%s: read %v", kind, got)
		}
		if got := c.admin.get(main + "/file?file=run.sh&format=json").object(); got.text("content") != "#!/bin/sh\necho hi\n" || got.text("encoding") != "utf-8" || got.text("mode") != "100755" {
			t.Errorf("%s: read %v", kind, got)
		}
		c.admin.get(main+"/file?file=run.sh&format=xml").refused(400, "format")

		// A file that is written without a mode keeps its mode.
		c.admin.post(main+"/files", record{"files": []record{file("run.sh", "#!/bin/sh\n")}}).want(200)
		if got := c.described(main); !strings.Contains(got, "run.sh 100755 10 false") {
			t.Errorf("%s: after a write, the tree is\n%s", kind, got)
		}
		// The next branch or folder keeps the modes too.
		c.admin.post(c.code()+"/"+kind, record{"step_number": 1, kind + "_type": "start"}).want(200)
		start := c.code() + "/" + plural + "/step-1-start"
		plain := file("run.sh", "#!/bin/sh\n")
		plain["mode"] = "100644"
		c.admin.post(main+"/files", record{"files": []record{plain}}).want(200)
		if got := c.described(main); !strings.Contains(got, "run.sh 100644 10 false") {
			t.Errorf("%s: after the executable bit was removed, the tree is\n%s", kind, got)
		}
		c.admin.post(start+"/files", record{"files": []record{file("new", "x")}}).want(200)
		if got := c.described(start); !strings.Contains(got, "run.sh 100755 10 false") {
			t.Errorf("%s: the tree of the next branch or folder is\n%s", kind, got)
		}

		dir := untar(t, c.admin.get(c.code()+"/download").want(200).body)
		at := filepath.Join(dir, "step-1-start")
		if kind == "branch" {
			if status := runGit(t, dir, "status", "--porcelain"); status != "" {
				t.Errorf("the download is not clean: %s", status)
			}
			at = filepath.Join(t.TempDir(), "clone")
			runGit(t, dir, "clone", "-q", "-b", "step-1-start", dir, at)
		}
		if info, err := os.Stat(filepath.Join(at, "run.sh")); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s: run.sh is downloaded with %v %v", kind, info, err)
		}
		if info, err := os.Stat(filepath.Join(at, "a.txt")); err != nil || info.Mode()&0o111 != 0 {
			t.Errorf("%s: a.txt is downloaded with %v %v", kind, info, err)
		}
		if b, err := os.ReadFile(filepath.Join(at, "logo.png")); err != nil || !bytes.Equal(b, notText) {
			t.Errorf("%s: downloaded %q %v", kind, b, err)
		}
	}
}

func TestInvalidFilesAreNotWritten(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.workspace("branch", file("a", "1"))
	main := c.code() + "/branches/main"
	with := func(member, value string) record {
		f := file("b", "eA==")
		f[member] = value
		return f
	}
	broken := with("encoding", "base64")
	broken["content"] = "eA="
	for what, tc := range map[string]struct {
		f      record
		reason string
	}{
		"an unknown encoding":  {with("encoding", "hex"), "files[0].encoding"},
		"broken base64":        {broken, "files[0].content"},
		"an unknown mode":      {with("mode", "0755"), "files[0].mode"},
		"the mode of a link":   {with("mode", "120000"), "files[0].mode"},
		"a misspelt encoding":  {with("encodng", "base64"), "files[0].encodng"},
		"a member in capitals": {with("Mode", "100755"), "files[0].Mode"},
	} {
		if got := c.admin.send("POST", main+"/files", record{"files": []record{tc.f}}); got.status != 400 || !strings.Contains(got.error(), tc.reason) {
			t.Errorf("%s: status %d %s", what, got.status, got.body)
		}
	}
	if got := c.admin.get(main + "/files").texts(); fmt.Sprint(got) != "[a]" {
		t.Errorf("the workspace contains %v", got)
	}
}

// In an earlier version, each of these requests succeeded, and the misspelt field was ignored.
func TestAMisspeltMemberOfAWorkspaceIsRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	one := []record{file("a", "1")}
	c.admin.post("/codeserver", record{"codelab_id": c.id, "structure_type": "branch", "files": one}).refused(400, "files")
	c.workspace("branch", one...)
	c.admin.post(c.code()+"/branch", record{"step_number": 1, "branch_type": "start", "form": "main"}).refused(400, "form")
	// A new branch gets its files from another branch. A new folder can have its own.
	c.admin.post(c.code()+"/branch", record{"step_number": 1, "branch_type": "start", "files": one}).refused(400, "files")
	c.admin.post(c.code()+"/branches/main/files", record{"files": one, "deleted_files": []string{"a"}}).refused(400, "deleted_files")
	c.admin.post(c.code()+"/branches/main/files", record{"files": one, "message": "M"}).refused(400, "message")
	other := newClass(t)
	other.workspace("folder", one...)
	other.admin.post(other.code()+"/folder", record{"step_number": 1, "folder_type": "start", "workspace_files": one}).refused(400, "workspace_files")
	if got := other.admin.get(other.code() + "/folders").texts(); fmt.Sprint(got) != "[main]" {
		t.Errorf("the folders are %v", got)
	}
}

func TestNamesThatWindowsCannotCheckOutAreRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	for _, path := range []string{"docs/AUX.txt", "a:b", "dir./x", "what?"} {
		c.admin.post("/codeserver", record{"codelab_id": c.id, "structure_type": "branch", "workspace_files": []record{file(path, "x")}}).refused(400, "Windows")
	}
	c.workspace("branch", file("Docs/a", "1"))
	for path, reason := range map[string]string{"nul": "Windows", "b/lpt1.c": "Windows", "x ": "Windows", "docs/b": "spelling", "Docs/A": "spelling"} {
		c.admin.post(c.code()+"/branches/main/files", record{"files": []record{file("good", "1"), file(path, "x")}}).refused(400, reason)
	}
	if got := c.admin.get(c.code() + "/branches/main/files").texts(); fmt.Sprint(got) != "[Docs/a]" {
		t.Errorf("the workspace contains %v", got)
	}
}

// executable returns a ZIP as Unix programs write it: run.sh is executable, a.png is not text.
func executable(t *testing.T, more ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, mode os.FileMode, content []byte) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("run.sh", 0o755, []byte("#!/bin/sh\n"))
	add("img/a.png", 0o644, notText)
	for _, name := range more {
		add(name, 0o644, []byte("x"))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAnArchiveIsImportedIntoAWorkspace(t *testing.T) {
	t.Parallel()
	for kind, plural := range map[string]string{"branch": "branches", "folder": "folders"} {
		c := newClass(t)
		c.workspace(kind, file("keep.txt", "1"), file("run.sh", "old"))
		main := c.code() + "/" + plural + "/main"
		got := c.admin.sendFile(main+"/import", "start.zip", executable(t)).object()
		if fmt.Sprint(got["files"]) != "2" || got.text("status") != "ok" {
			t.Errorf("%s: the import returned %v", kind, got)
		}
		if got, want := c.described(main), "img/a.png 100644 12 true\nkeep.txt 100644 1 false\nrun.sh 100755 10 false"; got != want {
			t.Errorf("%s: the tree is\n%s", kind, got)
		}
		if got := c.admin.get(main + "/file?file=img/a.png").want(200).body; !bytes.Equal(got, notText) {
			t.Errorf("%s: read %q", kind, got)
		}
		// A file keeps its executable bit if the archive is from Windows, which has no such bit.
		c.admin.sendFile(main+"/import?replace=true", "next.zip", packed(t, "run.sh", "new", "b", "2")).want(200)
		if got, want := c.described(main), "b 100644 1 false\nrun.sh 100755 3 false"; got != want {
			t.Errorf("%s: after the replacement, the tree is\n%s", kind, got)
		}
		c.admin.sendFile(main+"/import?replace=maybe", "next.zip", executable(t)).refused(400, "replace")
		before := c.everyFile(c.admin)
		for what, more := range map[string][]string{
			"twice": {"b/x", "b/x"}, "spelling": {"Img/b"}, "file and a folder": {"run.sh/x"}, ".git": {".git/hooks/post-checkout"}, "..": {"../x"}, "Windows": {"con"}, "absolute": {"/x"},
		} {
			c.admin.sendFile(main+"/import?replace=true", "bad.zip", executable(t, more...)).refused(400, what)
		}
		// Unless the import replaces existing files, its names are also compared with their names.
		c.admin.sendFile(main+"/import", "bad.zip", executable(t, "B")).refused(400, "spelling")
		c.admin.sendFile(main+"/import", "bad.txt", []byte("not an archive")).refused(400, "tar.gz")
		if got := c.everyFile(c.admin); got != before {
			t.Errorf("%s: after a refused import, the workspace contains\n%s", kind, got)
		}
		if kind == "branch" {
			// The download contains the repository.
			c.admin.sendFile(main+"/import", "own.tar.gz", c.admin.get(c.code()+"/download").want(200).body).refused(400, ".git")
			log := runGit(t, untar(t, c.admin.get(c.code()+"/download").want(200).body), "log", "--format=%s")
			if log != "Import next.zip\nImport start.zip\nCreate the workspace" {
				t.Errorf("the log is %s", log)
			}
			continue
		}
		c.admin.post(c.code()+"/folder", record{"step_number": 1, "folder_type": "start", "files": []record{}}).want(200)
		start := c.code() + "/folders/step-1-start"
		c.admin.sendFile(start+"/import", "own.tar.gz", c.admin.get(c.code()+"/download").want(200).body).want(200)
		if got, want := c.described(start), "main/b 100644 1 false\nmain/run.sh 100755 3 false"; got != want {
			t.Errorf("the tree of an imported download is\n%s", got)
		}
	}
}
