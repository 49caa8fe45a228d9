package acceptance

import (
	"slices"
	"testing"
)

func TestANewCodelabHasTheDefaults(t *testing.T) {
	admin := facilitator(t, common.get(t).Addr(), "")
	got := admin.post("/codelabs", record{"title": "  Trim me  ", "unknown": 1}).object()
	want := record{
		"title": "Trim me", "description": "", "author": "", "is_public": true, "quiz_enabled": false, "require_quiz": false,
		"require_feedback": false, "require_submission": false, "guide_markdown": nil, "registration_open": true, "ended_at": nil,
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s is %v, want %v", k, got[k], v)
		}
	}
}

func TestASettingLeftOutKeepsItsValue(t *testing.T) {
	c := newClassOn(t, common.get(t).Addr(), record{"title": "A", "author": "Ada", "guide_markdown": " # Kept as sent \n"})
	got := c.admin.put(c.path, record{"title": "B", "is_public": false}).object()
	if got.text("title") != "B" || got.text("author") != "Ada" || got["is_public"] != false || got.text("guide_markdown") != " # Kept as sent \n" {
		t.Errorf("after the update: %v", got)
	}
	if got = c.admin.put(c.path, record{"guide_markdown": ""}).object(); got["guide_markdown"] != nil {
		t.Errorf("an empty guide is %v, want null", got["guide_markdown"])
	}
}

func TestCodelabsAreListedNewestFirst(t *testing.T) {
	first, second := newClass(t), newClass(t)
	ids := texts(first.admin.get("/codelabs").list(), "id")
	if i, j := slices.Index(ids, second.id), slices.Index(ids, first.id); i < 0 || j < 0 || i > j {
		t.Errorf("the newer is at %d, the older at %d", i, j)
	}
}
