package acceptance

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// tagged are the reads whose responses carry an entity tag.
var tagged = []string{"", "/chat", "/inline-comments", "/attendees", "/help", "/quizzes", "/feedback", "/materials", "/submissions"}

func TestAnUnchangedReadIsNotSentAgain(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	for _, path := range tagged {
		who := lin.browser
		if path == "/feedback" {
			who = c.admin
		}
		tag := who.get(c.path + path).want(200).header.Get("ETag")
		for _, match := range []string{tag, `"other", W/` + tag, "*"} {
			if got := who.get(c.path+path, header("If-None-Match", match)).want(304); got.header.Get("ETag") != tag || len(got.body) != 0 {
				t.Errorf("%s: the 304 has the tag %q and the body %q", path, got.header.Get("ETag"), got.body)
			}
		}
		who.get(c.path+path, header("If-None-Match", `"other"`)).want(200)
		if path != "/feedback" && path != "/inline-comments" && path != "/materials" {
			c.admin.get(c.path+path, header("If-None-Match", tag)).want(200) // an admin receives more
		}
	}
}

func TestEveryChangeUpdatesTheTagAndTheSeq(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	quiz := c.quizzes(record{"question": "q", "quiz_type": "descriptive"})[0].text("id")
	post := func(m record) answer { return lin.post(c.path+"/messages", m) }
	for i, change := range []struct {
		path string
		make func() answer
	}{
		{"", func() answer { return c.admin.put(c.path, record{"title": "New"}) }},
		{"", func() answer {
			return c.admin.put(c.path+"/steps", record{"steps": []record{{"id": c.steps[0], "title": "t", "content_markdown": "c"}}})
		}},
		{"", func() answer { return c.admin.post(c.path+"/end", record{"ended": true}) }},
		{"", func() answer { return c.admin.post(c.path+"/end", record{"ended": false}) }},
		{"/chat", func() answer { return post(record{"type": "chat", "message": "x"}) }},
		{"/attendees", func() answer { return post(record{"type": "step_progress", "step_number": 1}) }},
		{"/attendees", func() answer { return c.admin.put(c.path+"/attendees/"+lin.id, record{"name": "Linnea"}) }},
		{"/attendees", func() answer { return c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": true}) }},
		{"/attendees", func() answer { return c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": false}) }},
		{"/help", func() answer { return lin.post(c.path+"/help", record{"step_number": 1}) }},
		{"/help", func() answer { return c.admin.put(c.path+"/attendees/"+lin.id, record{"name": "Lin"}) }},
		{"/inline-comments", func() answer { return lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "x")) }},
		{"/inline-comments", func() answer { return lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "y")) }},
		{"/inline-comments", func() answer {
			return c.admin.put(c.path+"/steps", record{"steps": []record{{"id": c.steps[0], "title": "t", "content_markdown": "changed"}}})
		}},
		{"/quizzes", func() answer {
			return c.admin.put(c.path+"/quizzes", []record{{"id": quiz, "question": "changed", "quiz_type": "descriptive"}})
		}},
		{"/feedback", func() answer { return lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "1"}) }},
		{"/materials", func() answer {
			return c.admin.post(c.path+"/materials", record{"title": "t", "material_type": "link", "link_url": "https://example.org/"})
		}},
		{"/submissions", func() answer {
			return lin.post(c.path+"/attendees/"+lin.id+"/submissions/link", record{"url": "https://example.org/"})
		}},
		{"/submissions", func() answer { return c.admin.put(c.path+"/attendees/"+lin.id, record{"name": "Lin N."}) }},
		{"/attendees", func() answer { return lin.post(c.path+"/complete", nil) }},
	} {
		before := c.admin.get(c.path + change.path).want(200)
		change.make().want(200)
		after := c.admin.get(c.path+change.path, header("If-None-Match", before.header.Get("ETag")))
		if after.status != 200 {
			t.Errorf("change %d: %s returned 304", i, change.path)
			continue
		}
		was, _ := strconv.Atoi(before.header.Get("X-Codelab-Seq"))
		if is, _ := strconv.Atoi(after.header.Get("X-Codelab-Seq")); is <= was {
			t.Errorf("change %d: seq is %d, want more than %d", i, is, was)
		}
	}
}

// A client that has received an ack can read immediately, and the response includes the
// acknowledged change.
func TestAReadAfterAnAckShowsTheWrite(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	s, reader := c.attendee("Lin").connect(c.id, ""), c.attendee("Max")
	for i := range 30 {
		text := fmt.Sprint("m", i)
		ack := s.acked(record{"type": "chat", "message": text}, text)
		got := reader.get(c.path + "/chat?limit=1")
		shown, _ := strconv.Atoi(got.header.Get("X-Codelab-Seq"))
		if last := got.list()[0].text("message"); last != text || shown < ack.seq() {
			t.Fatalf("after the ack at %d, a read at %d shows %q", ack.seq(), shown, last)
		}
	}
}

// If several clients save the revision that they opened, one edit is stored and the others are
// refused.
func TestAnEditOfAnOldRevisionIsRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	edits := []struct {
		read, path string
		body       func(mark string) any
		mark       func(a answer) string
	}{
		{"", "", func(mark string) any { return record{"title": mark} }, func(a answer) string {
			var both []any
			a.into(&both)
			return record(both[0].(map[string]any)).text("title")
		}},
		{"", "/steps", func(mark string) any {
			return record{"steps": []record{{"id": c.steps[0], "title": mark, "content_markdown": ""}}}
		}, func(a answer) string {
			var both []any
			a.into(&both)
			return record(both[1].([]any)[0].(map[string]any)).text("title")
		}},
		{"/quizzes", "/quizzes", func(mark string) any {
			return []record{{"question": mark, "quiz_type": "descriptive"}}
		}, func(a answer) string { return a.list()[0].text("question") }},
	}
	for _, e := range edits {
		c.admin.put(c.path+e.path, e.body("before")).want(200)
		tag := c.admin.get(c.path + e.read).want(200).header.Get("ETag")
		answers := make(chan answer, 8)
		for i := range cap(answers) {
			go func() { answers <- c.admin.put(c.path+e.path, e.body(fmt.Sprint(i)), header("If-Match", tag)) }()
		}
		var won answer
		wins := 0
		for range cap(answers) {
			switch a := <-answers; a.status {
			case 200:
				won = a
				wins++
			case 412:
				if !strings.HasPrefix(string(a.body), `{"error":"`) {
					t.Errorf("%s: a 412 without an error text", e.path)
				}
			default:
				t.Errorf("%s: an edit returned %d, want 200 or 412", e.path, a.status)
			}
		}
		if wins != 1 {
			t.Fatalf("%s: %d of %d edits succeeded, want 1", e.path, wins, cap(answers))
		}
		after := c.admin.get(c.path + e.read).want(200)
		if got := after.header.Get("ETag"); got != won.header.Get("ETag") || got == tag {
			t.Errorf("%s: the edit returned the tag %s, the read %s", e.path, won.header.Get("ETag"), got)
		}
		c.admin.put(c.path+e.path, e.body("x"), header("If-Match", tag)).want(412)
		if got := e.mark(c.admin.get(c.path + e.read)); got == "x" || got == "before" {
			t.Errorf("%s: the stored text is %q", e.path, got)
		}
		// Actions of attendees are not edits. The header can contain a list, a weak tag, a tag with
		// a content coding, or the star. An edit without the header also passes.
		c.attendee("Lin "+e.path).post(c.path+"/messages", record{"type": "chat", "message": "x"}).want(200)
		for i, match := range []func(tag string) string{
			func(tag string) string { return tag },
			func(tag string) string { return "W/" + tag },
			func(tag string) string { return `"other", ` + tag },
			func(tag string) string { return tag[:len(tag)-1] + `-gzip"` },
			func(string) string { return "*" },
		} {
			tag := c.admin.get(c.path + e.read).header.Get("ETag")
			c.admin.put(c.path+e.path, e.body(fmt.Sprint("again ", i)), header("If-Match", match(tag))).want(200)
		}
		c.admin.put(c.path+e.path, e.body("last")).want(200)
	}
	// Quizzes and the codelab have separate revisions.
	tag := c.admin.get(c.path + "/quizzes").header.Get("ETag")
	c.admin.put(c.path, record{"title": "Other"}).want(200)
	c.admin.put(c.path+"/quizzes", []record{}, header("If-Match", tag)).want(200)
}
