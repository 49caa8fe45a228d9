package acceptance

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// table reads an export. Each row is a map by column name.
func (c *class) table(name string) []map[string]string {
	c.t.Helper()
	a := c.admin.get(c.path + "/export/" + name + ".csv").want(200)
	if kind := a.header.Get("Content-Type"); kind != "text/csv; charset=utf-8; header=present" {
		c.t.Errorf("the content type is %q", kind)
	}
	if got, want := a.header.Get("Content-Disposition"), `attachment; filename="`+name+"-"+c.id+`.csv"`; got != want {
		c.t.Errorf("the disposition is %q, want %q", got, want)
	}
	body, marked := bytes.CutPrefix(a.body, []byte("\xef\xbb\xbf"))
	if !marked {
		c.t.Errorf("%s begins without a byte order mark", name)
	}
	if bare := c.admin.get(c.path + "/export/" + name + ".csv?bom=0").want(200); !bytes.Equal(bare.body, body) {
		c.t.Errorf("%s with bom=0 is %q, want the same without the byte order mark", name, bare.body)
	}
	rows, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil || len(rows) == 0 {
		c.t.Fatalf("reading the table: %v: %s", err, a.body)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, name := range rows[0] {
			cells[name] = row[i]
		}
		out = append(out, cells)
	}
	return out
}

func TestAttendanceIsExportedAsATable(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.join(open(t, c.addr), record{"name": `김 "Lin", ä`, "email": "lin@example.org"})
	eve := c.join(open(t, c.addr), record{"name": "=HYPERLINK(1)"})
	gone := c.attendee("Gone")
	lin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
	lin.post(c.path+"/complete", nil).want(200)
	c.admin.delete(c.path + "/attendees/" + gone.id).want(204)
	c.admin.get(c.path + "/export/attendance.csv?view=true").want(200)
	c.admin.get(c.path + "/export/attendance.csv?view=x").refused(400)
	if got := c.audited(); slices.Contains(got, "codelab_export") {
		t.Errorf("viewing the table is audited: %v", got)
	}
	got := c.table("attendance")
	if len(got) != 2 {
		t.Fatalf("the table is %v", got)
	}
	first, second := got[0], got[1]
	if first["attendee_id"] != lin.id || first["name"] != `김 "Lin", ä` || first["email"] != "lin@example.org" || first["current_step"] != "2" || first["is_completed"] != "true" ||
		first["steps"] != "3" || first["step 2 reached_at: two"] == "" || first["step 3 reached_at: three"] != "" || first["completed_at"] == "" || first["registered_at"] == "" {
		t.Errorf("the row of Lin is %v", first)
	}
	if second["attendee_id"] != eve.id || second["name"] != "'=HYPERLINK(1)" || second["is_completed"] != "false" || second["completed_at"] != "" {
		t.Errorf("the row of Eve is %v", second)
	}
	c.admin.put(c.path, record{"title": "other"}).want(200)
	lin.get(c.path + "/export/attendance.csv").refused(403)
	if got := c.audited(); !slices.Contains(got, "codelab_export") {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestQuizResultsAndFeedbackAreExportedAsTables(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	q := c.quizzes(choice("one", 1), choice("+several", []int{2, 0}), record{"question": "free", "quiz_type": "descriptive"})
	lin, gone := c.attendee("Lin"), c.attendee("Gone")
	for _, p := range []*person{lin, gone} {
		p.post(c.path+"/quizzes/submit", record{"submissions": []record{
			{"quiz_id": q[0].text("id"), "answer": "0"}, {"quiz_id": q[1].text("id"), "answer": "[2,0]"}, {"quiz_id": q[2].text("id"), "answer": "@text\n\"quoted\""},
		}}).want(200)
		p.post(c.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": q[0].text("id"), "answer": "1"}}}).want(200)
		p.post(c.path+"/feedback", record{"difficulty": "2", "satisfaction": "5", "comment": "-1, good"}).want(200)
	}
	c.admin.delete(c.path + "/attendees/" + gone.id).want(204)
	got := c.table("quizzes")
	if len(got) != 3 {
		t.Fatalf("the table is %v", got)
	}
	for i, want := range []struct{ question, answer, text, correct, first string }{
		{"one", "1", "b", "true", "2 0 a false"}, {"'+several", "[2,0]", "a; c", "true", "1 [2,0] a; c true"},
		{"free", "'@text\n\"quoted\"", "'@text\n\"quoted\"", "true", "1 '@text\n\"quoted\" '@text\n\"quoted\" true"},
	} {
		r := got[i]
		answer := strings.ReplaceAll(r["answer"], "\r\n", "\n")
		if r["name"] != "Lin" || r["question"] != want.question || answer != want.answer || strings.ReplaceAll(r["answer_text"], "\r\n", "\n") != want.text || r["is_correct"] != want.correct {
			t.Errorf("row %d is %v", i, r)
		}
		first := strings.Join([]string{r["attempts"], r["first_answer"], r["first_answer_text"], r["first_correct"]}, " ")
		if strings.ReplaceAll(first, "\r\n", "\n") != want.first {
			t.Errorf("the first answer of row %d is %q, want %q", i, first, want.first)
		}
	}
	if got := c.table("feedback"); len(got) != 1 || got[0]["name"] != "Lin" || got[0]["difficulty"] != "2" || got[0]["comment"] != "'-1, good" {
		t.Errorf("the feedback is %v", got)
	}
}
