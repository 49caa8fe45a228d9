package acceptance

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// takenOut is an export of everything about a workshop or a person. Its JSON and CSV files contain
// the same records.
type takenOut struct {
	t    testing.TB
	held map[string]string
}

func (b *browser) takeOut(path string) takenOut {
	b.t.Helper()
	a := b.get(path).want(200)
	if kind := a.header.Get("Content-Type"); kind != "application/zip" {
		b.t.Errorf("the content type is %q", kind)
	}
	_, held := unzipped(b.t, a.body)
	z, err := zip.NewReader(bytes.NewReader(a.body), int64(len(a.body)))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range z.File {
		if now := time.Now(); f.Modified.After(now.Add(time.Hour)) || f.Modified.Before(now.Add(-time.Hour)) {
			b.t.Errorf("%s has the date %v", f.Name, f.Modified)
		}
	}
	out := takenOut{b.t, held}
	for name := range held {
		if kind, ok := strings.CutSuffix(name, ".csv"); ok && !strings.Contains(name, "/") {
			out.records(kind)
			if !strings.Contains(held["index.html"], name) {
				b.t.Errorf("the page does not explain %s", name)
			}
		}
	}
	return out
}

// records returns the records of a kind.
func (o takenOut) records(kind string) (out []record) {
	o.t.Helper()
	if err := json.Unmarshal([]byte(o.held[kind+".json"]), &out); err != nil {
		o.t.Fatalf("%s.json: %v: %s", kind, err, o.held[kind+".json"])
	}
	rows, err := csv.NewReader(strings.NewReader(o.held[kind+".csv"])).ReadAll()
	if err != nil || len(rows) != len(out)+1 {
		o.t.Fatalf("%s.csv has %d rows for %d records: %v", kind, len(rows), len(out), err)
	}
	for _, r := range out {
		columns := slices.Sorted(slices.Values(rows[0]))
		if r["seal"] == false { // fields that a certificate has only with a seal
			columns = slices.DeleteFunc(columns, func(name string) bool { return name == "shares" })
		}
		if !slices.Equal(columns, slices.Sorted(maps.Keys(r))) {
			o.t.Errorf("%s: the columns are %q, the record is %v", kind, columns, r)
		}
	}
	return out
}

// busyClass returns a class in which every kind of data exists, with two people who took part.
func busyClass(t *testing.T) (c *class, lin, max *person) {
	c = newClass(t)
	lin, max = c.join(open(t, c.addr), record{"name": "Lin <b>", "email": "lin@example.org"}), c.attendee("Max")
	live := lin.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "=from Lin"}, "1")
	live.acked(record{"type": "dm", "target_id": max.id, "message": "secret of two"}, "2")
	live.acked(record{"type": "step_progress", "step_number": 2}, "3")
	max.post(c.path+"/messages", record{"type": "chat", "message": "from Max"}).want(200)
	c.admin.post(c.path+"/messages", record{"type": "dm", "target_id": lin.id, "message": "to Lin"}).want(200)
	lin.post(c.path+"/help", record{"step_number": 1, "message": "how"}).want(200)
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "why")).want(200)
	max.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "me too")).want(200)
	q := c.quizzes(choice("one", 1))
	for _, p := range []*person{lin, max} {
		p.post(c.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": q[0].text("id"), "answer": "1"}}}).want(200)
	}
	poll := c.poll(record{"lines": "Which?\n- a\n- b"})
	lin.vote(c, poll, record{"choice": []int{0}}).want(200)
	max.vote(c, poll, record{"choice": []int{1}}).want(200)
	c.admin.put(c.path, record{"questions": "open"}).want(200)
	lin.post(c.path+"/questions", record{"text": "Why?", "anonymous": true}).want(200)
	max.post(c.path+"/questions", record{"text": "from Max"}).want(200)
	lin.post(c.path+"/feedback", record{"difficulty": "2", "satisfaction": "5", "comment": "good"}).want(200)
	lin.hand(c, "work.txt", []byte("by Lin")).want(200)
	lin.post(c.path+"/attendees/"+lin.id+"/submissions/link", record{"url": "https://example.org/lin", "title": "page"}).want(200)
	lin.post("/ai/conversations", record{"codelab_id": c.id, "question": "Q", "answer": "A"}).want(200)
	lin.post(c.path+"/complete", nil).want(200)
	return c, lin, max
}

func TestAnExportContainsEverythingAboutAWorkshop(t *testing.T) {
	t.Parallel()
	c, lin, _ := busyClass(t)
	gone := c.attendee("Gone")
	gone.post(c.path+"/messages", record{"type": "chat", "message": "of who went"}).want(200)
	c.admin.delete(c.path + "/attendees/" + gone.id).want(204)
	all := c.admin.takeOut(c.path + "/export/all")
	for kind, want := range map[string]int{
		"people": 2, "progress": 3, "chat": 3, "help": 1, "comments": 2, "quizzes": 1, "answers": 2, "polls": 2, "room_questions": 2, "feedback": 1, "submissions": 2, "certificates": 1, "conversations": 1,
	} {
		if got := all.records(kind); len(got) != want {
			t.Errorf("the records of %s are %v", kind, got)
		}
	}
	work := all.records("submissions")[0].text("file_path")
	if all.held[work] != "by Lin" || !strings.HasPrefix(work, "submissions/") {
		t.Errorf("%q contains %q", work, all.held[work])
	}
	if all.held["codelab/codelab.json"] == "" || all.held["codelab/steps/01.md"] == "" {
		t.Errorf("the export contains %v", slices.Sorted(maps.Keys(all.held)))
	}
	if answer := all.records("answers")[0]; answer.text("question") != "one" || answer.text("answer_text") != "b" {
		t.Errorf("the answer is %v", answer)
	}
	for name, content := range all.held {
		if strings.Contains(content, "of who went") || strings.Contains(content, "secret of two") {
			t.Errorf("%s contains data that a facilitator must not see", name)
		}
	}
	if !strings.Contains(all.held["chat.csv"], "'=from Lin") {
		t.Errorf("the chat is %s", all.held["chat.csv"])
	}
	lin.get(c.path + "/export/all").refused(403)
	open(t, c.addr).get(c.path + "/export/all").refused(401)
	if got := c.audited(); got[0] != "codelab_export" {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestAnExportContainsEverythingAboutOnePerson(t *testing.T) {
	t.Parallel()
	c, lin, max := busyClass(t)
	path := c.path + "/attendees/" + lin.id + "/export"
	own := lin.takeOut(path)
	for kind, want := range map[string]int{
		"people": 1, "progress": 2, "chat": 3, "help": 1, "comments": 1, "answers": 1, "polls": 1, "room_questions": 1, "feedback": 1, "submissions": 2, "certificates": 1, "conversations": 1,
	} {
		if got := own.records(kind); len(got) != want {
			t.Errorf("the records of %s are %v", kind, got)
		}
	}
	if _, there := own.held["quizzes.json"]; there || own.held["codelab/codelab.json"] != "" {
		t.Error("the export of a person contains parts of the codelab")
	}
	c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": true}).want(200)
	var actions []string
	for _, a := range lin.takeOut(path).records("audit") {
		actions = append(actions, a.text("action"))
		if mine := a["actor_id"] == lin.id; mine != (a.text("ip") != "") {
			t.Errorf("an audit record has the address of somebody else, or lacks the person's own: %v", a)
		}
	}
	if want := []string{"codelab_export", "attendee_mute"}; len(actions) < 3 || !slices.Equal(actions[:2], want) || actions[len(actions)-1] != "attendee_register" {
		t.Errorf("the audited actions are %q", actions)
	}
	for name, content := range own.held {
		if strings.Contains(content, "from Max") || strings.Contains(content, "me too") {
			t.Errorf("%s contains data of Max", name)
		}
	}
	if page := own.held["index.html"]; !strings.Contains(page, "Lin &lt;b&gt;") || strings.Contains(page, "<b>") {
		t.Errorf("the page is %s", page)
	}
	// A facilitator also gets the export of a person, without direct messages between two attendees
	// and without anonymous questions. In an earlier version, the export contained these questions,
	// and so revealed who had asked.
	theirs := c.admin.takeOut(path)
	if got := theirs.records("chat"); len(got) != 2 {
		t.Errorf("the chat of Lin is %v", got)
	}
	if got := theirs.records("room_questions"); len(got) != 0 {
		t.Errorf("a facilitator sees that Lin asked %v", got)
	}
	if got := c.admin.takeOut(c.path + "/attendees/" + max.id + "/export").records("room_questions"); len(got) != 1 {
		t.Errorf("the named questions of Max are %v", got)
	}
	max.get(path).refused(403)
	open(t, c.addr).get(path).refused(401)
	c.admin.get(c.path + "/attendees/" + c.id + "/export").refused(404)
}
