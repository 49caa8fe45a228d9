package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/transport/auth"
	"atelier/transport/control"
)

// makeRelease uses every feature, and keeps the folder, its backup, and the REST responses.
func makeRelease(t *testing.T, name string) {
	data := t.TempDir()
	cfg := releaseConfig(t, data)
	s := startOnFormat(t, cfg)
	w := badWorldOn(t, s.Addr(), data)
	admin := w.c.admin
	admin.post("/admin/settings", record{"ai_api_key": encryptedWith(t, adminPW, "made-up-ai-key")}).want(200)
	r := keptRelease{People: []keptPerson{{w.c.id, w.own.id, "Own", "77", w.own.cookie(auth.SessionCookie)}}}
	w.c.gather(w)

	var d keptCredentials
	first := newClassOn(t, s.Addr(), everySetting("First"))
	first.teach(&d)
	first.remove()
	first.repository()
	first.over()
	ids := []map[string]string{w.ids, w.others, {"id": w.folders, "folder": "main"}, first.ids(d.People[0]), {"id": first.id, "branch": "step-1-start"}}
	r.People = append(r.People, d.People...)
	w.c.people(w)
	for _, env := range []string{production, sandbox} {
		m := newMarket(t, s.Addr(), env)
		k := m.kept()
		k.hold(m, "release")
		r.Markets = append(r.Markets, k)
	}
	d.tokens(admin, "release")
	r.APIToken, r.Facilitator = d.APITokens[0], admin.cookie(auth.SessionCookie)
	saveBackup(t, cfg, name+".backup.gz")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	pack(t, data, name+".tar.gz")

	// Each request is sent twice, to separate servers, a minute apart.
	asked := w.questions(ids)
	r.Answers = r.twice(t, asked, func() config.Config {
		again := t.TempDir()
		unpack(t, name+".tar.gz", again)
		return releaseConfig(t, again)
	})
	r.Restored = r.twice(t, asked, func() config.Config { return restoreRelease(t, name) })
	r.write(t, name)
	dumpRelease(t, name)
	size := int64(0)
	for _, part := range []string{".tar.gz", ".backup.gz", ".json.gz", ".node.tgz"} {
		info, err := os.Stat(name + part)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 1<<20 {
		t.Errorf("the folder of the release has %d bytes", size)
	}
}

// dumpRelease keeps the data of a PostgreSQL node that has restored the release's backup: its
// folders, with a dump of the database.
func dumpRelease(t *testing.T, name string) {
	t.Helper()
	data := t.TempDir()
	cfg := onDatabase(t, data)
	restoreInto(t, cfg, name)
	if err := startOnFormat(t, cfg).Stop(); err != nil {
		t.Fatal(err)
	}
	dump, err := exec.Command(program(t, "pg_dump"), "--no-owner", "--no-privileges", string(cfg.Storage.Postgres)).Output()
	if err != nil {
		t.Fatal(err)
	}
	// The test removes lines that only this version of PostgreSQL's programs can read: their own
	// commands, and a setting that earlier servers lack.
	dump = regexp.MustCompile(`(?m)^(\\(un)?restrict .*|SET transaction_timeout = .*)\n`).ReplaceAll(dump, nil)
	if err := os.WriteFile(filepath.Join(data, dumped), dump, 0o600); err != nil {
		t.Fatal(err)
	}
	pack(t, data, name+".node.tgz")
}

func saveBackup(t *testing.T, cfg config.Config, name string) {
	t.Helper()
	client, err := control.Dial(cfg.Server.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	f, err := os.CreateTemp(t.TempDir(), "backup-")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := client.Backup(f); err != nil {
		t.Fatal(err)
	}
	if err := service.AddSecrets(cfg, f, passphraseOfReleases); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	writeZipped(t, name, f)
}

// gather uses the features that leave data and that did not exist when the first folders were made.
func (c *class) gather(w *badWorld) {
	c.t.Helper()
	steps := c.readSteps()
	for _, p := range []record{
		{"kind": "choice", "question": "Which?", "options": []string{"a", "b"}, "right": []int{1}},
		{"kind": "text", "question": "What was hard?", "anonymous": true},
	} {
		poll := c.poll(p)
		vote := record{"choice": []int{1}}
		if p["kind"] == "text" {
			vote = record{"text": "Nothing."}
		}
		w.own.vote(c, poll, vote).want(200)
		c.admin.post(c.path+"/polls/"+poll.text("id")+"/close", nil).want(200)
		c.admin.post(c.path+"/polls/"+poll.text("id")+"/show", record{"shown": true}).want(200)
	}
	w.own.put(c.path+"/questions/"+w.ids["question_id"]+"/vote", nil).want(200)
	c.admin.put(c.path+"/questions/"+w.ids["question_id"], record{"state": "answered", "answer": "Because."}).want(200)
	w.own.post(c.path+"/messages", tick(steps[2].text("id"), taskOne, true)).want(200)
	c.report(w.checker.token, "build", record{"ok": true, "note": "made"}).want(200)
	w.own.put(c.path+"/attendees/"+w.own.id, record{"place": "row 4"}).want(200)
	w.own.post(c.path+"/feedback", record{"difficulty": "2", "satisfaction": "5", "comment": "good"}).want(200)
	c.admin.put(c.path, record{"share_code": "all", "is_public": true, "guide_markdown": noted, "organiser": "A school", "hours": 3, "accent": "rust"}).want(200)
	for _, id := range []string{c.id, w.others["id"], w.folders} { // no data expires
		c.admin.put("/codelabs/"+id, record{"email_retention_days": 36500, "chat_retention_days": 36499}).want(200)
	}
	c.admin.put(c.path+"/timer", record{"seconds": 600, "label": "Try it", "kind": "exercise"}).want(200)
	c.admin.put(c.path+"/timer", record{"seconds": nil}).want(200)
	c.admin.post(c.path+"/rehearsal", record{"people": 2, "minutes": 1, "force": true}).want(201)
	c.admin.delete(c.path + "/rehearsal").want(204)
	c.admin.post(c.path+"/copy", nil).want(200)
}

// people creates facilitators in addition to the owner, and a system that receives webhooks.
func (c *class) people(w *badWorld) {
	c.t.Helper()
	c.facilitator("fay")
	c.assistant("asa")
	c.admin.delete("/admin/webhooks/" + w.ids["webhook_id"]).want(204) // this webhook has no receiver, and would retry
	c.admin.delete("/admin/people/" + w.ids["person_id"]).want(204)    // the invitation of this person would expire
	to := newReceiver(w.t)
	id, _ := c.hook(to, record{"events": []string{"attendee_registered"}})
	c.attendeeOf(w, "Bo")
	<-to.got
	c.becomes(id, "delivered", func(x record) bool { return len(c.admin.get("/admin/webhooks/"+id+"/deliveries").list()) > 0 })
	w.ids["webhook_id"] = id
	c.admin.post(c.path+"/end", nil).want(200)
}

// attendeeOf registers an attendee in a private codelab.
func (c *class) attendeeOf(w *badWorld, name string) *person {
	return c.join(open(c.t, c.addr), record{"name": name, "join_code": w.ids["code"]})
}

// ids returns the ids for the paths of a person's codelab.
func (c *class) ids(p keptPerson) map[string]string {
	ids := map[string]string{"id": c.id, "attendee_id": p.ID, "branch": "main", "code": c.meta().text("join_code")}
	for _, s := range c.admin.get(c.path + "/submissions").list() {
		if s.text("attendee_id") == p.ID && s.text("file_name") != "" {
			ids["submission_id"] = s.text("id")
		}
	}
	return ids
}

// questions lists all GET requests of the table, with each set of ids, for every caller with
// access.
func (w *badWorld) questions(sets []map[string]string) (out []keptAnswer) {
	w.t.Helper()
	seen := map[string]bool{}
	for _, p := range probes {
		method, template, _ := strings.Cut(p.op, " ")
		// These responses describe the machine and the program.
		if method != "GET" || p.ok != 0 || slices.Contains([]string{"/admin/health", "/app", "/openapi.json", "/asyncapi.json"}, template) {
			continue
		}
		asked := false
		for _, ids := range sets {
			path := template
			for name, id := range ids {
				path = strings.ReplaceAll(path, "{"+name+"}", id)
			}
			if strings.Contains(path, "{") || seen[path] {
				continue
			}
			if strings.Contains(path, "/file") && p.query != "" {
				path += p.query
			}
			seen[path], asked = true, true
			for _, as := range map[caller][]string{
				byAnyone: {askNobody}, byAttendee: {askAttendee}, byMember: {askOwner, askAttendee}, byReader: {askOwner, askAttendee, askNobody}, byAdmin: {askOwner},
			}[p.by] {
				out = append(out, keptAnswer{Path: path, As: as})
			}
		}
		if !asked {
			w.t.Errorf("%s: the sets of ids contain no object for its path", p.op)
		}
	}
	return out
}

// twice sends the requests to two servers with copies of the data, a minute apart. It returns the
// responses, with varies in place of each changed part, and logs the changes. It omits responses
// that changed as a whole.
func (r keptRelease) twice(t *testing.T, asked []keptAnswer, copied func() config.Config) (out []keptAnswer) {
	t.Helper()
	var read [2][]keptAnswer
	for i := range read {
		if i > 0 {
			time.Sleep(61 * time.Second) // runs only while a release is recorded
		}
		t.Run(fmt.Sprint("reading ", i), func(t *testing.T) {
			read[i] = r.ask(t, serveRelease(t, copied()), asked)
		})
	}
	for i, a := range read[0] {
		b := read[1][i]
		for _, d := range differ(a.Path, a.Body, b.Body, false) {
			t.Log("not kept: ", d)
		}
		if a.Body = inBoth(a.Body, b.Body); a.Body != varies && a.Status == b.Status {
			out = append(out, a)
		}
	}
	return out
}
