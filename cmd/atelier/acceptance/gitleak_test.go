package acceptance

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// everythingIn returns the content of a response, with compressed parts decompressed.
func everythingIn(t testing.TB, body []byte) []byte {
	t.Helper()
	// Sideband packets split the compressed content. Without their headers it is complete again.
	var whole []byte
	for rest := body; len(rest) >= 4; {
		var n int
		if _, err := fmt.Sscanf(string(rest[:4]), "%04x", &n); err != nil || n > len(rest) {
			whole = append(whole, rest...)
			break
		}
		n = max(n, 4)
		whole = append(whole, bytes.TrimPrefix(rest[4:n], []byte{1})...)
		rest = rest[n:]
	}
	out := append(bytes.Clone(body), whole...)
	for i := range whole {
		if whole[i] != 0x78 {
			continue
		}
		z, err := zlib.NewReader(bytes.NewReader(whole[i:]))
		if err != nil {
			continue
		}
		b, _ := io.ReadAll(z) // bytes that are not a stream end with an error
		out = append(out, b...)
	}
	return out
}

// Each unshared tree and each commit by the author contains a secret word. An attendee requests
// every object in every way. No response contains the word.
func TestUnsharedContentDoesNotLeak(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	cfg := testConfig(t)
	cfg.Limits.GitPerMinute = 0
	c := newClassOn(t, startServer(t, cfg).Addr(), record{"share_code": "pointed"})
	c.workspace("branch", file("main.txt", "classified main"))
	for i := range 3 {
		c.admin.post(c.code()+"/branches/main/files", record{
			"files": []record{file("main.txt", fmt.Sprintf("classified main %d", i))}, "commit_message": fmt.Sprintf("classified message %d", i),
		}).want(200)
	}
	for step := 1; step <= 3; step++ {
		for _, which := range []string{"start", "end"} {
			name := fmt.Sprintf("step-%d-%s", step, which)
			c.admin.post(c.code()+"/branch", record{"step_number": step, "branch_type": which, "from": "main"}).want(200)
			// The first commit contains a draft, which the second one removes.
			c.admin.post(c.code()+"/branches/"+name+"/files", record{"files": []record{file("draft/"+name, "classified draft")}, "commit_message": "classified"}).want(200)
			word := "public "
			if step == 3 || step == 2 && which == "end" {
				word = "classified "
			}
			c.admin.post(c.code()+"/branches/"+name+"/files", record{
				"files": []record{file(strings.TrimSpace(word)+".txt", word+name)}, "delete_files": []string{"draft/" + name, "main.txt"}, "commit_message": "classified",
			}).want(200)
		}
	}
	c.point(2)
	const secret = "classified"
	author := untar(t, c.admin.get(c.code()+"/download").want(200).body)
	var objects []string
	for line := range strings.Lines(g.run(author, "cat-file", "--batch-all-objects", "--batch-check")) {
		objects = append(objects, strings.Fields(line)[0])
	}
	lin := c.gitURL(c.attendee("Lin").browser)
	mine := g.clone(lin)
	shared := map[string]bool{}
	for line := range strings.Lines(g.run(mine, "cat-file", "--batch-all-objects", "--batch-check")) {
		shared[strings.Fields(line)[0]] = true
	}
	tips := strings.Fields(g.run(mine, "for-each-ref", "--format=%(objectname)", "refs/remotes/origin/step-*"))
	if len(tips) != 3 || len(objects) < 30 {
		t.Fatalf("there are %d tips and %d objects", len(tips), len(objects))
	}
	if err := filepath.WalkDir(filepath.Join(mine, ".git"), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var b []byte
			if b, err = os.ReadFile(path); bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s in the clone contains the secret word", path)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if out := g.run(mine, "log", "--all", "-p"); strings.Contains(out, secret) || !strings.Contains(out, "public step-1-end") {
		t.Errorf("the history of the clone is\n%s", out)
	}
	ask := func(lines ...string) []byte {
		t.Helper()
		body := ""
		for _, l := range lines {
			if l != "0000" {
				l = fmt.Sprintf("%04x%s", len(l)+4, l)
			}
			body += l
		}
		req, err := http.NewRequest(http.MethodPost, strings.TrimSuffix(lin, "/")+"/git-upload-pack", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		return exchange(t, req).want(200).body
	}
	const able = " multi_ack_detailed no-done side-band-64k thin-pack ofs-delta shallow deepen-relative filter allow-tip-sha1-in-want\n"
	quiet := func(what string, body []byte) {
		t.Helper()
		if bytes.Contains(everythingIn(t, body), []byte(secret)) {
			t.Errorf("%s: the response contains the secret word", what)
		}
	}
	// The search must find a word that is present.
	if all := ask("want "+tips[0]+able, "0000", "done\n"); !bytes.Contains(everythingIn(t, all), []byte("public")) {
		t.Fatal("the pack of the shared commits lacks their text")
	}
	for _, id := range objects {
		for how, body := range map[string][]byte{
			"wanted":            ask("want "+id+able, "0000", "done\n"),
			"wanted with a tip": ask("want "+tips[0]+able, "want "+id+"\n", "0000", "done\n"),
			"shallow":           ask("want "+id+able, "deepen 1\n", "0000", "done\n"),
			"filtered":          ask("want "+id+able, "filter blob:none\n", "0000", "done\n"),
		} {
			quiet(how, body)
			if isTip := strings.Contains(strings.Join(tips, " "), id); !isTip && !bytes.Contains(body, []byte("ERR ")) {
				t.Errorf("%s: %s is not refused: %.100q", how, id, body)
			}
		}
		// The response to a client that claims to have one of these objects reveals nothing either.
		if shared[id] {
			continue
		}
		for how, lines := range map[string][]string{
			"had":         {"want " + tips[0] + able, "0000", "have " + id + "\n", "0000"},
			"had, done":   {"want " + tips[0] + able, "0000", "have " + id + "\n", "done\n"},
			"had shallow": {"want " + tips[2] + able, "shallow " + id + "\n", "deepen 3\n", "0000", "done\n"},
		} {
			body := ask(lines...)
			quiet(how, body)
			for i := range lines {
				lines[i] = strings.ReplaceAll(lines[i], id, strings.Repeat("ab", 20))
			}
			if other := ask(lines...); !bytes.Equal(body, other) {
				t.Errorf("%s: the response reveals that %s exists: %.100q, for an unknown object %.100q", how, id, body, other)
			}
		}
	}
}
