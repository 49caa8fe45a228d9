package acceptance

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/transport/ai/upstream/upstreamtest"
	"atelier/transport/auth"
	"atelier/transport/control"
)

// makeFormat creates the data folder of the current format. The server runs twice. When the
// second run begins, snapshots contain the events of the first run. The events of the second run
// are only in the journal, because the folder is packed while in use, as after a crash. The
// folder therefore tests both ways to recover, each with a workshop of its own.
func makeFormat(t *testing.T, name string) {
	data := t.TempDir()
	up := upstreamtest.New(t)
	cfg := formatConfig(data)
	cfg.AI.BaseURL = up.URL
	f := fixture{}

	s := startOnFormat(t, cfg)
	first := newClassOn(t, s.Addr(), everySetting("First"))
	admin := first.admin
	admin.post("/admin/settings", record{"ai_api_key": encryptedKey(t)}).want(200) // the next key replaces and erases it
	f.Doors.AIKey = "made-up-ai-key"
	admin.post("/admin/settings", record{"ai_api_key": encryptedWith(t, adminPW, f.Doors.AIKey)}).want(200)
	first.teach(&f.Doors)
	first.remove()
	up.Script(func(a *upstreamtest.Answer) { a.Refuse(500, "") })
	for _, about := range []record{{"prompt": "why"}, {"prompt": "why", "codelab_id": first.id}} {
		admin.post("/ai/stream", about).refused(502)
	}
	up.Script(func(a *upstreamtest.Answer) { a.Whole("Hello", " world") })
	first.repository()
	first.over()
	first.large()
	gone := newClassOn(t, s.Addr(), record{"title": "Gone"})
	gone.material("Gone", "gone.txt", "gone")
	gone.workspace("folder", file("gone.txt", "gone"))
	admin.delete(gone.path).want(204)
	live, test := newMarket(t, s.Addr(), production), newMarket(t, s.Addr(), sandbox)
	f.Doors.Markets = []keptMarket{live.kept(), test.kept()}
	f.Doors.Markets[0].hold(live, "first")
	f.Doors.Markets[1].hold(test, "first")
	f.Doors.tokens(admin, "first")
	f.Doors.Facilitator = admin.cookie(auth.SessionCookie)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}

	s = startOnFormat(t, cfg)
	for _, m := range []*market{live, test} {
		m.move(s.Addr())
	}
	admin.base = "http://" + s.Addr()
	admin.http.CloseIdleConnections()
	rotate(t, cfg)
	second := newClassOn(t, s.Addr(), everySetting("Second"))
	second.teach(&f.Doors)
	second.folders()
	admin.post(second.path+"/copy", nil).want(200)
	admin.put(first.path, record{"description": "after a restart"}).want(200)
	live.join()
	f.Doors.Markets[0].hold(live, "second")
	f.Doors.tokens(admin, "second")
	pack(t, data, name+".tar.gz")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	f.write(t, name)
	if info, err := os.Stat(name + ".tar.gz"); err != nil || info.Size() > 300<<10 {
		t.Errorf("the packed folder is too large: %v %v", info, err)
	}
}

func rotate(t *testing.T, cfg config.Config) {
	t.Helper()
	client, err := control.Dial(cfg.Server.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.RotateKeys(); err != nil {
		t.Fatal(err)
	}
}

func (d *keptCredentials) tokens(admin *browser, name string) {
	made := func(name string) record { return admin.post("/admin/tokens", record{"name": name}).object() }
	d.APITokens = append(d.APITokens, made(name).text("token"))
	revoked := made(name + ", revoked")
	d.RevokedTokens = append(d.RevokedTokens, revoked.text("token"))
	admin.delete("/admin/tokens/" + revoked.text("id")).want(204)
}

// everySetting returns settings that all differ from their defaults.
func everySetting(title string) record {
	return record{
		"title": title, "description": "D", "author": "Ada", "is_public": true, "guide_markdown": "# Guide", "quiz_enabled": true, "require_quiz": true,
		"require_feedback": true, "require_submission": true, "email_retention_days": 36500, "chat_retention_days": 36499,
	}
}

// teach runs a workshop with chat, help requests, comments, quizzes, files and questions to the AI.
func (c *class) teach(d *keptCredentials) {
	c.admin.login("Ada")
	lin := c.join(open(c.t, c.addr), record{"name": "Lin", "code": "4711", "email": "lin@example.org"})
	max := c.join(open(c.t, c.addr), record{"name": "Max", "code": "forgotten"})
	image := c.admin.sendFile("/upload/image", "step.png", pixel(7)).object().text("url")
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"id": c.steps[0], "title": "one", "content_markdown": "About one, with ![](" + image + ")", "duration_minutes": 5},
		{"id": c.steps[1], "title": "two", "content_markdown": "About two"}, {"title": "three", "content_markdown": "About three"},
	}}).want(200)
	c.talk(lin, max)
	c.help(lin, max)
	c.comment(lin, max)
	c.learn(lin, max)
	c.admin.put(c.path+"/attendees/"+max.id, record{"name": "Maxine", "muted": true}).want(200)
	c.admin.post(c.path+"/attendees/"+max.id+"/reset-pin", record{"code": "4712"}).want(200)
	c.join(max.browser, record{"name": "Maxine", "code": "4712", "email": "max@example.org"})
	lin.post(c.path+"/messages", record{"type": "pulse", "state": "slow"}).want(200)
	for _, p := range []struct {
		*person
		name, code string
	}{{lin, "Lin", "4711"}, {max, "Maxine", "4712"}} {
		d.People = append(d.People, keptPerson{c.id, p.id, p.name, p.code, p.cookie(auth.SessionCookie)})
	}
}

func (c *class) talk(lin, max *person) {
	live, boss := lin.connect(c.id, ""), c.admin.connect(c.id, "")
	for i := range 3 {
		live.acked(record{"type": "chat", "message": fmt.Sprint("Nachricht ", i, " 한글 🎉")}, fmt.Sprint("r", i))
	}
	live.acked(record{"type": "dm", "target_id": "facilitator", "message": "direct"}, "d")
	live.acked(record{"type": "step_progress", "step_number": 3}, "p")
	live.acked(record{"type": "pulse", "state": "stuck"}, "u")
	boss.acked(record{"type": "broadcast", "message": "Back at ten."}, "b")
	boss.acked(record{"type": "dm", "target_id": max.id, "message": "to Max"}, "d")
	boss.acked(record{"type": "pointer", "step_number": 2, "hints": true}, "q")
	c.admin.put(c.path+"/pin", record{"message": "pinned"}).want(200)
	_, _ = live.conn.Close(), boss.conn.Close()
}

// help leaves a request for help in each state, and an offer of help.
func (c *class) help(lin, max *person) {
	lin.post(c.path+"/help", record{"step_number": 1, "message": "resolved"}).want(200)
	c.admin.post(c.path+"/help/"+c.admin.get(c.path + "/help").list()[0].text("id")+"/resolve", nil).want(200)
	lin.post(c.path+"/help", record{"step_number": 2, "message": "claimed"}).want(200)
	c.admin.post(c.path+"/help/"+c.admin.get(c.path + "/help").list()[0].text("id")+"/claim", nil).want(200)
	c.admin.post(c.path+"/help", record{"attendee_id": max.id, "step_number": 1, "message": "offered"}).want(200)
	c.attendee("Ida").post(c.path+"/help", record{"step_number": 3, "message": "waits"}).want(200)
}

func (c *class) comment(lin, max *person) {
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "why")).want(200)
	c.admin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "because")).want(200)
	max.post(c.path+"/inline-comments", guideAnchor(2, 7)).want(200)
}

// learn does everything that attendees need for completion.
func (c *class) learn(lin, max *person) {
	lin.post(c.path+"/feedback", record{"difficulty": "2", "satisfaction": "5", "comment": "good"}).want(200)
	q := c.quizzes(choice("one", 1), choice("several", []int{0, 2}), record{"question": "free", "quiz_type": "descriptive"})
	lin.post(c.path+"/quizzes/submit", record{"submissions": []record{
		{"quiz_id": q[0].text("id"), "answer": "1"}, {"quiz_id": q[1].text("id"), "answer": "[0,2]"}, {"quiz_id": q[2].text("id"), "answer": "text"},
	}}).want(200)
	max.post(c.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": q[0].text("id"), "answer": "0"}}}).want(200)
	c.material("Paper", "Paper.pdf", "%PDF-1.7 of "+c.id)
	c.admin.post(c.path+"/materials", record{"title": "Slides", "material_type": "link", "link_url": "https://example.org/slides"}).want(200)
	c.admin.delete(c.path + "/materials/" + c.material("Gone", "gone.txt", "gone").text("id")).want(204)
	lin.hand(c, "mine.txt", []byte("by Lin in "+c.id)).want(200)
	lin.post(c.path+"/attendees/"+lin.id+"/submissions/link", record{"url": "https://example.org/lin", "title": "My page"}).want(200)
	lin.post("/ai/conversations", record{"codelab_id": c.id, "step_number": 2, "question": "Q", "answer": "A"}).want(200)
	lin.ask(record{"prompt": "why", "codelab_id": c.id}).whole()
	c.admin.ask(record{"prompt": "why"}).whole()
	c.eventually("the questions are counted", func() bool {
		used := c.admin.get("/admin/ai/usage").object()
		return fmt.Sprint(used["codelabs"]) != "" && strings.Contains(fmt.Sprint(used["codelabs"]), c.id)
	})
	lin.post(c.path+"/complete", nil).want(200)
}

// remove creates some data and removes it again. A removal erases data from the log immediately
// and writes a snapshot. A workshop that is only in the journal therefore cannot include removals.
func (c *class) remove() {
	gone := c.attendee("Gone")
	gone.post(c.path+"/messages", record{"type": "chat", "message": "by who goes"}).want(200)
	thread := gone.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "by who goes")).object()
	c.admin.delete(c.path + "/inline-comments/" + thread.text("id") + "/comments/" + comments(thread)[1].text("id")).want(200)
	alone := gone.post(c.path+"/inline-comments", c.anchor(c.steps[1], 0, 5, "a thread that goes")).object()
	c.admin.delete(c.path + "/inline-comments/" + alone.text("id") + "/comments/" + comments(alone)[0].text("id")).want(200)
	c.admin.delete(c.path + "/chat/" + c.admin.get(c.path + "/chat").list()[0].text("id")).want(204)
	gone.delete(c.path + "/attendees/" + gone.id + "/submissions/" + gone.hand(c, "gone.txt", []byte("gone")).object().text("id")).want(204)
	c.admin.delete(c.path + "/attendees/" + gone.id).want(204)
}

// repository leaves branches. One of them has deleted files.
func (c *class) repository() {
	c.workspace("branch", file("main.go", "package main\n"), file("docs/ä b.md", "# Hi\n"))
	c.admin.post(c.code()+"/branch", record{"step_number": 1, "branch_type": "start"}).want(200)
	c.admin.post(c.code()+"/branches/step-1-start/files", record{
		"files": []record{file("main.go", "package start\n"), file("a/b.txt", "x")}, "delete_files": []string{"docs/ä b.md"}, "commit_message": "Begin",
	}).want(200)
	c.admin.post(c.code()+"/branch", record{"step_number": 1, "branch_type": "end"}).want(200)
}

// folders leaves a workspace of folders after a deleted workspace.
func (c *class) folders() {
	c.workspace("branch", file("gone", "gone"))
	c.admin.delete(c.code()).want(204)
	c.workspace("folder")
	c.admin.post(c.code()+"/folder", record{"step_number": 1, "folder_type": "start", "files": []record{file("a.txt", "1"), file("b/c", "2")}}).want(200)
	c.admin.post(c.code()+"/folder", record{"step_number": 1, "folder_type": "end"}).want(200)
	c.admin.post(c.code()+"/folders/step-1-end/files", record{"files": []record{file("a.txt", "changed")}, "delete_files": []string{"b/c"}}).want(200)
}

// over creates a codelab that has ended and that only facilitators can see.
func (c *class) over() {
	o := newClassOn(c.t, c.addr, record{"title": "Over", "is_public": false, "ai_enabled": false})
	o.admin.post(o.path+"/registration", record{"open": false}).want(200)
	o.admin.post(o.path+"/end", nil).want(200)
}

// large creates a codelab that is so large that its snapshot has several parts, and that its steps
// are in the value log. The repetitive text compresses well.
func (c *class) large() {
	l := newClassOn(c.t, c.addr, record{"title": "Large"})
	var steps []record
	for i := range 24 {
		steps = append(steps, record{"title": fmt.Sprint(i), "content_markdown": strings.Repeat("All the same. ", 3500)})
	}
	l.admin.put(l.path+"/steps", record{"steps": steps}).want(200)
}
