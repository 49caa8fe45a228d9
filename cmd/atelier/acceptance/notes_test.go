package acceptance

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"atelier/transport/rest"
)

const secretNote = "kingfisher"

// noted is a text with notes of every kind. unnoted is the same text as attendees read it.
const (
	noted = "# Begin\r\n\nRead this.\n\n```notes\n" + secretNote + "\n```\n\n- one\n  ~~~ notes for the break\n  " + secretNote +
		"\n  ~~~\n- two\n\n<aside class=\"facilitator\">\n\n" + secretNote + "\n\n</aside>\n\nEnd.\n```notes\n" + secretNote
	unnoted = "# Begin\r\n\nRead this.\n\n- one\n- two\n\nEnd.\n"
)

// withNotes returns a class whose first step and guide have notes.
func (c *class) withNotes() {
	c.t.Helper()
	c.admin.put(c.path, record{"guide_markdown": noted, "is_public": true}).want(200)
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"id": c.steps[0], "title": "One", "content_markdown": noted, "duration_minutes": 5}, {"id": c.steps[1], "title": "Two", "content_markdown": "Two"},
	}}).want(200)
	c.steps = c.steps[:2]
}

// texts returns the guide and the first step as this browser reads them.
func (c *class) texts(b *browser, query string) (guide, step string) {
	c.t.Helper()
	var both []any
	b.get(c.path + query).want(200).into(&both)
	return record(both[0].(map[string]any)).text("guide_markdown"), record(both[1].([]any)[0].(map[string]any)).text("content_markdown")
}

func TestOnlyFacilitatorsSeeNotes(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, nil)
	c.withNotes()
	lin, anyone := c.attendee("Lin"), open(t, c.addr)
	helper := c.assistant("helper@example.org")
	both := c.join(facilitator(t, c.addr, ""), record{"name": "Max"}) // a facilitator who is also an attendee

	for name, who := range map[string]struct {
		*browser
		query string
	}{"attendee": {lin.browser, ""}, "reader of a public codelab": {anyone, ""}, "facilitator as a reader": {c.admin, "?as=attendee"}, "facilitator as attendee": {both.browser, "?as=attendee"}} {
		if guide, step := c.texts(who.browser, who.query); guide != unnoted || step != unnoted {
			t.Errorf("the %s gets the guide %q and the step %q", name, guide, step)
		}
	}
	for name, who := range map[string]*browser{"facilitator": c.admin, "assistant": helper.browser, "facilitator who takes part": both.browser} {
		if guide, step := c.texts(who, ""); guide != noted || step != noted {
			t.Errorf("the %s gets the guide %q and the step %q", name, guide, step)
		}
	}
	if lab := c.listed(c.admin); lab.text("guide_markdown") != noted {
		t.Errorf("the facilitators' list has %q", lab.text("guide_markdown"))
	}

	// The requests cover everything else that others can read.
	named := strings.NewReplacer("{id}", c.id, "{attendee_id}", lin.id, "{code}", c.meta().text("join_code"))
	for _, op := range rest.Operations() {
		path := named.Replace(op.Path)
		if op.Method != http.MethodGet || op.Root || strings.Contains(path, "{") {
			continue
		}
		for name, who := range map[string]*browser{"attendee": lin.browser, "reader": anyone} {
			if got := who.send(http.MethodGet, path, nil); strings.Contains(string(unpacked(t, got)), secretNote) {
				t.Errorf("GET %s returns a note to a %s", path, name)
			}
		}
	}

	// The AI receives only the text that the caller can read.
	for _, q := range []struct {
		who      *browser
		included bool
	}{{lin.browser, false}, {c.admin, true}} {
		if _, failed := q.who.ask(record{"prompt": "why", "codelab_id": c.id, "step_number": 1}).whole(); failed != "" {
			t.Fatalf("the question failed: %s", failed)
		}
		if got := strings.Contains(fmt.Sprint(up.Last().Body), secretNote); got != q.included {
			t.Errorf("the AI request contains the note: %v, want %v", got, q.included)
		}
	}
}

// unpacked returns the body of a response, followed by the unpacked files if it is an archive.
func unpacked(t *testing.T, a answer) []byte {
	t.Helper()
	out := a.body
	if a.header.Get("Content-Type") != "application/zip" {
		return out
	}
	_, held := unzipped(t, a.body)
	for _, content := range held {
		out = append(out, content...)
	}
	return out
}

// The frames that report a change to attendees contain no part of the text.
func TestFramesForAttendeesContainNoNotes(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	listener := lin.connect(c.id, "")
	c.withNotes()
	c.admin.post(c.path+"/end", nil).want(200)
	for _, kind := range []string{"codelab_changed", "steps_changed", "codelab_changed"} {
		if m := listener.next(kind); strings.Contains(fmt.Sprint(m), secretNote) {
			t.Errorf("an attendee received %v", m)
		}
	}
}

// Facilitators never receive text that was cached for others, and others never receive text that
// was cached for facilitators.
func TestTextsAreCachedByRole(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.withNotes()
	lin, anyone := c.attendee("Lin"), open(t, c.addr)
	seen := map[string]bool{}
	for _, first := range []*browser{c.admin, lin.browser, anyone} {
		tag := first.get(c.path).want(200).header.Get("ETag")
		if seen[tag] || tag == "" {
			t.Errorf("two roles have the tag %q", tag)
		}
		seen[tag] = true
		first.get(c.path, header("If-None-Match", tag)).want(304)
		for _, other := range []*browser{c.admin, lin.browser, anyone} {
			if other != first {
				other.get(c.path, header("If-None-Match", tag)).want(200)
			}
		}
	}
}

// A comment has the same position for everybody. A change of only the notes does not make
// attendees' comments stale.
func TestCommentsAreAnchoredToTheTextWithoutNotes(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.withNotes()
	lin := c.attendee("Lin")
	made := lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 9, 13, "why?")).object()
	again := c.admin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 9, 13, "because")).object()
	if again.text("id") != made.text("id") {
		t.Errorf("two threads have the same place: %v and %v", made, again)
	}
	lin.post(c.path+"/inline-comments", guideAnchor(0, 5)).want(200)
	stale := func() (out []any) {
		for _, thread := range lin.get(c.path + "/inline-comments").list() {
			out = append(out, thread["stale"])
		}
		return out
	}
	set := func(text string) {
		c.admin.put(c.path, record{"guide_markdown": text}).want(200)
		c.admin.put(c.path+"/steps", record{"steps": []record{{"id": c.steps[0], "title": "One", "content_markdown": text}}}).want(200)
	}
	set(strings.ReplaceAll(noted, secretNote, "another\n\nnote"))
	if got := stale(); !reflect.DeepEqual(got, []any{false, false}) {
		t.Errorf("after a change of the notes, the threads are stale: %v", got)
	}
	set(strings.ReplaceAll(noted, "Read", "Write"))
	if got := stale(); !reflect.DeepEqual(got, []any{true, true}) {
		t.Errorf("after a change of the text, the threads are stale: %v", got)
	}
}

// Notes are included in all exports for facilitators.
func TestExportsForFacilitatorsContainNotes(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.withNotes()
	export := c.admin.get(c.path + "/export").want(200)
	for name, made := range map[string]record{"copy": c.admin.post(c.path+"/copy", nil).object(), "import": c.admin.upload(export.body).object()} {
		other := &class{t: t, addr: c.addr, admin: c.admin, id: made.text("id"), path: "/codelabs/" + made.text("id")}
		if guide, step := other.texts(c.admin, ""); guide != noted || step != noted {
			t.Errorf("the %s has the guide %q and the step %q", name, guide, step)
		}
	}
	text := "```notes\n## " + secretNote + "\n```\n\n<aside class=\"facilitator\">\n\n" + secretNote + "\n\n</aside>\n\nText.\n"
	made := c.admin.upload([]byte(strings.Replace(tutorial, "Text of one.\n", text, 1))).object()
	other := &class{t: t, addr: c.addr, admin: c.admin, id: made.text("id"), path: "/codelabs/" + made.text("id")}
	if _, step := other.texts(c.admin, ""); strings.TrimSpace(step) != strings.TrimSpace(text) {
		t.Errorf("the imported tutorial has %q", step)
	}
	if _, step := other.texts(other.attendee("Lin").browser, ""); strings.TrimSpace(step) != "Text." {
		t.Errorf("an attendee of the imported tutorial gets %q", step)
	}
}

// For attendees, a guide that contains only notes counts as missing.
func TestAGuideOfNotesAloneCountsAsMissing(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"guide_markdown": "```notes\nx\n```\n"})
	var both []any
	c.attendee("Lin").get(c.path).into(&both)
	if got, there := both[0].(map[string]any)["guide_markdown"]; got != nil || !there {
		t.Errorf("the guide is %v", got)
	}
}
