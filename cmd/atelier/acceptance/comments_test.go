package acceptance

import (
	"fmt"
	"slices"
	"testing"
)

// comments returns a thread's messages.
func comments(thread record) []record {
	var out []record
	for _, m := range thread["messages"].([]any) {
		out = append(out, record(m.(map[string]any)))
	}
	return out
}

// guideAnchor returns the body of a comment that is attached to a range of the guide.
func guideAnchor(start, end int) record {
	return record{
		"anchor_key": fmt.Sprintf("guide|guide|811c9dc5|%d|%d", start, end), "target_type": "guide", "target_step_id": nil,
		"start_offset": start, "end_offset": end, "selected_text": "guide", "content_hash": "811c9dc5", "message": "hm",
	}
}

func TestAnExistingAnchorAppendsToItsThread(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	first := lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, " why? ")).object()
	again := c.anchor(c.steps[0], 0, 5, "because")
	again["selected_text"] = "not compared"
	second := max.post(c.path+"/inline-comments", again).object()
	got := comments(second)
	if second.text("id") != first.text("id") || second.text("selected_text") != "some text" || !slices.Equal(texts(got, "message"), []string{" why? ", "because"}) {
		t.Errorf("the thread is %v", second)
	}
	if first.text("created_by_attendee_id") != lin.id || got[1].text("author_id") != max.id || got[1].text("author_role") != "attendee" {
		t.Errorf("the authors are %v", got)
	}
	c.admin.post(c.path+"/inline-comments", again).want(200)
	got = comments(c.admin.get(c.path + "/inline-comments").list()[0])
	if got[2].text("author_id") != "facilitator" || got[2].text("author_role") != "admin" || got[2].text("author_name") != "Facilitator" {
		t.Errorf("the admin's comment is %v", got[2])
	}
}

func TestARangeMustNotOverlapAnother(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 10, 20, "x")).want(200)
	for _, r := range [][2]int{{0, 11}, {19, 30}, {0, 30}, {12, 15}, {10, 19}, {11, 20}} {
		lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], r[0], r[1], "x")).refused(400, "overlapping highlight")
	}
	for _, r := range [][2]int{{0, 10}, {20, 25}} {
		lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], r[0], r[1], "touches")).want(200)
	}
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[1], 10, 20, "another step")).want(200)
	lin.post(c.path+"/inline-comments", guideAnchor(10, 20)).want(200)
}

func TestAChangedTextMakesItsThreadsStale(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	stale := lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "x")).object()
	kept := lin.post(c.path+"/inline-comments", c.anchor(c.steps[1], 0, 5, "x")).object()
	reply := func(thread record, hash string) answer {
		return lin.post(c.path+"/inline-comments/"+thread.text("id")+"/comments", record{"message": "y", "content_hash": hash})
	}
	reply(stale, "other").refused(400, "stale")
	reply(stale, "abc123").want(200)
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"id": c.steps[0], "title": "one", "content_markdown": "Changed"}, {"id": c.steps[1], "title": "New title", "content_markdown": "About two"},
	}}).want(200)
	reply(stale, "abc123").refused(400, "stale")
	reply(kept, "abc123").want(200)
	for _, th := range lin.get(c.path + "/inline-comments").list() {
		if th["stale"] != (th.text("id") == stale.text("id")) {
			t.Errorf("stale is %v for %s", th["stale"], th.text("anchor_key"))
		}
	}
	// A stale thread no longer occupies its range, so a new range can overlap it.
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 3, 8, "fresh")).want(200)
}

// In an earlier version, the entity tag of the threads did not change with the guide. Clients
// therefore kept showing a stale thread as current.
func TestAChangedGuideMakesItsThreadsStale(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"guide_markdown": "Install Go."})
	lin := c.attendee("Lin")
	lin.post(c.path+"/inline-comments", guideAnchor(0, 5)).want(200)
	tag := lin.get(c.path + "/inline-comments").header.Get("ETag")
	c.admin.put(c.path, record{"guide_markdown": "Install Go 1.26."}).want(200)
	got := lin.get(c.path+"/inline-comments", header("If-None-Match", tag)).want(200).list()
	if got[0]["stale"] != true {
		t.Errorf("the thread is %v", got[0])
	}
}

func TestThreadsAreFilteredByTarget(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	for _, a := range []record{c.anchor(c.steps[0], 0, 5, "a"), c.anchor(c.steps[1], 0, 5, "b"), guideAnchor(0, 5)} {
		lin.post(c.path+"/inline-comments", a).want(200)
	}
	for query, want := range map[string]int{
		"": 3, "?target_type=step": 2, "?target_type=guide": 1, "?target_type=step&target_step_id=" + c.steps[0]: 1, "?target_step_id=" + c.steps[1]: 1,
		"?target_type=step&target_step_id=" + unknownID: 0,
	} {
		if got := len(lin.get(c.path + "/inline-comments" + query).list()); got != want {
			t.Errorf("%q returned %d threads, want %d", query, got, want)
		}
	}
}

func TestACommentIsDeletedByItsAuthorOrAFacilitator(t *testing.T) {
	t.Parallel()
	serverless := testConfig(t)
	serverless.Server.Mode = "serverless"
	for mode, addr := range map[string]string{"backend": common.get(t).Addr(), "serverless": startServer(t, serverless).Addr()} {
		t.Run(mode, func(t *testing.T) {
			c := newClassOn(t, addr, record{})
			lin, max := c.attendee("Lin"), c.attendee("Max")
			lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "a")).want(200)
			th := max.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "b")).object()
			path := c.path + "/inline-comments/" + th.text("id") + "/comments/"
			first, second := comments(th)[0].text("id"), comments(th)[1].text("id")
			max.delete(path + first).refused(403)
			if mode == "backend" {
				c.admin.delete(path + first).want(200)
				if got := c.audited(); got[0] != "comment_delete" {
					t.Errorf("the audited actions are %v", got)
				}
			} else {
				c.admin.delete(path + first).refused(403)
				lin.delete(path + first).want(200)
			}
			max.delete(path + first).refused(404)
			live := lin.connect(c.id, "")
			if got := max.delete(path + second).object(); got["thread_deleted"] != true {
				t.Errorf("the last deletion returned %v", got)
			}
			if m := live.next("inline_comment_changed"); m.text("action") != "deleted" || m.text("thread_id") != th.text("id") {
				t.Errorf("received %v, want the deletion of the thread", m)
			}
			if n := len(lin.get(c.path + "/inline-comments").list()); n != 0 {
				t.Errorf("%d threads are left, want 0", n)
			}
		})
	}
}

func TestTheAnchorKeyMustMatchTheFields(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	for field, value := range map[string]any{
		"anchor_key": "step|" + c.steps[0] + "|abc123|0|6", "target_step_id": c.steps[1], "end_offset": 6, "content_hash": "other", "target_type": "guide",
	} {
		a := c.anchor(c.steps[0], 0, 5, "x")
		a[field] = value
		lin.post(c.path+"/inline-comments", a).refused(400)
	}
	a := c.anchor(unknownID, 0, 5, "x")
	lin.post(c.path+"/inline-comments", a).refused(400, "target_step_id")
	for _, r := range [][2]int{{5, 5}, {6, 5}, {-1, 5}} {
		lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], r[0], r[1], "x")).refused(400, "start_offset")
	}
}
