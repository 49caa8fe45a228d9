package acceptance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"atelier/transport/ai/upstream/upstreamtest"
)

// The tests in this file call every operation with every kind of fault in a request. The server
// must refuse each attempt with the right status and an error body, and must change nothing. The
// invalid bodies are derived from the schemas, so the tests also verify the documents.

// caller is the kind of caller that is allowed to use an operation.
type caller uint8

const (
	byAnyone caller = iota
	byAdmin
	byMember // an admin or an attendee
	byAttendee
	byReader // anyone, but only in a public codelab
	byChecker
)

// probe is an operation, or one kind of body that an operation accepts.
type probe struct {
	op   string // method and path template
	by   caller
	body func(w *badWorld) any // a valid body; nil if the operation accepts none
	// ok is the status of the valid call. 0 means 200. The valid calls come last, in the order of
	// the table.
	ok int
	// ignored lists fields of the body that the server does not read.
	ignored string
	// optional means that a request without a body is valid.
	optional bool
	// own means that the attendee in the path must be the caller.
	own bool
	// query is the query of the valid call.
	query string
}

const notCalled = -1

func nothing(*badWorld) any { return nil }

func always(body any) func(*badWorld) any { return func(*badWorld) any { return body } }

var probes = []probe{
	{op: "GET /openapi.json"}, {op: "GET /asyncapi.json"}, {op: "GET /app"},
	{op: "GET /join/{code}"},
	{op: "GET /codelabs"},
	{op: "GET /certificates/{attendee_id}", ok: 403},
	{op: "GET /login/oidc", ok: 404}, {op: "GET /login/oidc/callback", ok: 404},
	{op: "GET /session", by: byMember},
	{op: "GET /admin/tokens", by: byAdmin},
	{op: "GET /admin/audit-logs", by: byAdmin},
	{op: "GET /admin/participants", by: byAdmin},
	{op: "GET /admin/people", by: byAdmin},
	{op: "GET /account", by: byAdmin},
	{op: "GET /admin/settings", by: byAdmin},
	{op: "GET /admin/webhooks", by: byAdmin},
	{op: "GET /admin/health", by: byAdmin},
	{op: "GET /admin/ai/usage", by: byAdmin},
	{op: "GET /codelabs/{id}/ai/conversations", by: byAdmin},
	{op: "GET /codelabs/{id}", by: byReader},
	{op: "GET /codelabs/{id}/ticks", by: byAttendee},
	{op: "GET /codelabs/{id}/export", by: byAdmin},
	{op: "GET /codelabs/{id}/export/attendance.csv", by: byAdmin},
	{op: "GET /codelabs/{id}/export/quizzes.csv", by: byAdmin},
	{op: "GET /codelabs/{id}/export/feedback.csv", by: byAdmin},
	{op: "GET /codelabs/{id}/export/polls.csv", by: byAdmin},
	{op: "GET /codelabs/{id}/export/all", by: byAdmin},
	{op: "GET /codelabs/{id}/polls", by: byMember},
	{op: "GET /codelabs/{id}/polls/{poll_id}/texts", by: byAdmin},
	{op: "GET /codelabs/{id}/questions", by: byMember},
	{op: "GET /codelabs/{id}/overview", by: byAdmin},
	{op: "GET /codelabs/{id}/summary", by: byAdmin},
	{op: "GET /codelabs/{id}/progress", by: byAdmin},
	{op: "GET /codelabs/{id}/chat", by: byMember},
	{op: "GET /codelabs/{id}/inline-comments", by: byMember},
	{op: "GET /codelabs/{id}/attendees", by: byMember},
	{op: "GET /codelabs/{id}/attendees/{attendee_id}", by: byMember},
	{op: "GET /codelabs/{id}/attendees/{attendee_id}/export", by: byMember},
	{op: "GET /codelabs/{id}/presence", by: byAdmin},
	{op: "GET /codelabs/{id}/help", by: byMember},
	{op: "GET /codelabs/{id}/feedback", by: byAdmin},
	{op: "GET /codelabs/{id}/quizzes", by: byMember},
	{op: "GET /codelabs/{id}/quizzes/submissions", by: byAdmin},
	{op: "GET /codelabs/{id}/materials", by: byMember},
	{op: "GET /codelabs/{id}/submissions", by: byMember},
	{op: "GET /codelabs/{id}/submissions/download", by: byAdmin},
	{op: "GET /codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}/file", by: byMember},
	{op: "GET /uploads/{kind}/{name}"},
	{op: "GET /codelabs/{id}/events", by: byMember, ok: notCalled},
	{op: "GET /ws/{id}", by: byMember, ok: 400},
	{op: "GET /codeserver/{id}", by: byAdmin},
	{op: "GET /codeserver/{id}/download", by: byAdmin},
	{op: "GET /codeserver/{id}/branches", by: byAdmin},
	{op: "GET /codeserver/{id}/branches/{branch}/files", by: byAdmin},
	{op: "GET /codeserver/{id}/branches/{branch}/tree", by: byAdmin},
	{op: "GET /codeserver/{id}/branches/{branch}/file", by: byAdmin, query: "?file=a/b"},
	{op: "GET /codeserver/{id}/folders", by: byAdmin},
	{op: "GET /codeserver/{id}/folders/{folder}/files", by: byAdmin},
	{op: "GET /codeserver/{id}/folders/{folder}/tree", by: byAdmin},
	{op: "GET /codeserver/{id}/folders/{folder}/file", by: byAdmin, query: "?file=a/b"},

	{op: "POST /codeserver/{id}/branch", by: byAdmin, body: always(record{"step_number": 1, "branch_type": "start", "from": "main"})},
	{op: "POST /codeserver/{id}/folder", by: byAdmin, body: always(record{"step_number": 1, "folder_type": "start", "files": oneFile})},
	{op: "POST /codeserver/{id}/branches/{branch}/files", by: byAdmin, body: always(record{
		"files": oneFile, "delete_files": []any{"a/b"}, "commit_message": "M",
	})},
	{op: "POST /codeserver/{id}/folders/{folder}/files", by: byAdmin, body: always(record{"files": oneFile})},
	{op: "POST /codeserver/{id}/branches/{branch}/import", by: byAdmin, body: func(w *badWorld) any { return form{name: "a.zip", content: packed(w.t, "x/y", "z"), most: 64 << 20} }},
	{op: "POST /codeserver/{id}/folders/{folder}/import", by: byAdmin, body: func(w *badWorld) any { return form{name: "a.zip", content: packed(w.t, "x/y", "z"), most: 64 << 20} }},
	{op: "POST /codelabs/{id}/git-access", by: byAdmin},
	{op: "DELETE /codeserver/{id}", by: byAdmin, ok: 204},
	{op: "POST /codeserver", by: byAdmin, body: func(w *badWorld) any {
		return record{"codelab_id": w.ids["id"], "structure_type": "folder", "workspace_files": oneFile}
	}},

	{op: "POST /admin/settings", by: byAdmin, body: func(w *badWorld) any { return record{"ai_api_key": encryptedKey(w.t)} }},
	{op: "POST /ai/stream", by: byMember, body: func(w *badWorld) any {
		return record{
			"prompt": "hi", "codelab_id": w.ids["id"], "step_number": 1, "system_instruction": "S", "model": "gemini-2.5-flash",
			"generation_config": map[string]any{"temperature": 0.5, "maxOutputTokens": 10},
		}
	}},
	{op: "POST /ai/stream", by: byMember, body: func(w *badWorld) any {
		return record{"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "hi"}}}}, "codelab_id": w.ids["id"]}
	}},
	{op: "POST /ai/conversations", by: byMember, body: func(w *badWorld) any {
		return record{"codelab_id": w.ids["id"], "step_number": 1, "question": "Q", "answer": "A", "model": "m"}
	}},
	{op: "POST /codelabs/{id}/help", by: byAttendee, body: always(record{"step_number": 2, "message": "M"})},
	{op: "POST /codelabs/{id}/help", by: byMember, body: func(w *badWorld) any {
		return record{"attendee_id": w.ids["attendee_id"], "step_number": 2, "message": "M"}
	}},
	{op: "PUT /codelabs/{id}/pin", by: byAdmin, body: always(record{"message": "M"})},
	{op: "POST /codelabs/{id}/direct-messages", by: byAdmin, body: always(record{"message": "hi", "to": "step", "step_number": 2, "ref": "r2"})},
	{op: "POST /codelabs/{id}/messages", by: byMember, body: always(record{"type": "chat", "message": "hi", "ref": "r1"})},
	{op: "POST /codelabs/{id}/messages", by: byMember, body: func(w *badWorld) any {
		return record{"type": "dm", "message": "hi", "target_id": w.ids["attendee_id"]}
	}},
	{op: "POST /codelabs/{id}/messages", by: byAttendee, body: always(record{"type": "step_progress", "step_number": 2})},
	{op: "POST /codelabs/{id}/messages", by: byAttendee, body: always(record{"type": "pulse", "state": "slow"})},
	{op: "POST /codelabs/{id}/messages", by: byAttendee, body: func(w *badWorld) any { return tick(w.c.steps[2], taskOne, true) }},
	{op: "POST /codelabs/{id}/messages", by: byAdmin, body: always(record{"type": "broadcast", "message": "hi"})},
	{op: "POST /codelabs/{id}/messages", by: byAdmin, body: always(record{"type": "pointer", "step_number": 2, "hints": true})},
	{op: "POST /codelabs/{id}/polls", by: byAdmin, body: always(record{
		"kind": "choice", "question": "Q", "options": []any{"a", "b"}, "anonymous": true, "right": []any{0},
	})},
	{op: "POST /codelabs/{id}/polls", by: byAdmin, body: always(record{"lines": "Q\n- a\n- b"})},
	{op: "PUT /codelabs/{id}/polls/{poll_id}", by: byAdmin, body: always(record{"question": "Q", "options": []any{"a", "b"}, "anonymous": false})},
	{op: "POST /codelabs/{id}/polls/{poll_id}/open", by: byAdmin, body: always(record{"seconds": 3600}), optional: true},
	{op: "PUT /codelabs/{id}/polls/{poll_id}/vote", by: byAttendee, body: always(record{"round": 1, "choice": []any{0}})},
	{op: "DELETE /codelabs/{id}/polls/{poll_id}/vote", by: byAttendee},
	{op: "POST /codelabs/{id}/polls/{poll_id}/show", by: byAdmin, body: always(record{"shown": true})},
	{op: "PUT /codelabs/{id}/spotlight", by: byAdmin, body: func(w *badWorld) any { return record{"kind": "poll", "id": w.ids["poll_id"]} }},
	{op: "PUT /codelabs/{id}/timer", by: byAdmin, body: always(record{"seconds": 60, "label": "L", "kind": "break"})},
	{op: "POST /codelabs/{id}/polls/{poll_id}/close", by: byAdmin},
	{op: "POST /codelabs/{id}/polls/{poll_id}/reset", by: byAdmin},
	{op: "DELETE /codelabs/{id}/polls/{poll_id}", by: byAdmin, ok: 204},
	{op: "POST /codelabs/{id}/questions", by: byAttendee, body: always(record{"text": "Why?", "anonymous": true})},
	{op: "POST /codelabs/{id}/questions/from", by: byAdmin, body: func(w *badWorld) any { return record{"help_id": w.ids["help_id"], "text": "Why?"} }},
	{op: "PUT /codelabs/{id}/questions/{question_id}/vote", by: byAttendee},
	{op: "DELETE /codelabs/{id}/questions/{question_id}/vote", by: byAttendee},
	{op: "POST /codelabs/{id}/questions/{question_id}/stop", by: byAdmin},
	{op: "PUT /codelabs/{id}/questions/{question_id}", by: byAdmin, body: always(record{"state": "open", "answer": "A"})},
	{op: "POST /codelabs/{id}/questions/{question_id}/merge", by: byAdmin, body: func(w *badWorld) any { return record{"into": w.into} }},
	{op: "DELETE /codelabs/{id}/questions/{question_id}", by: byAdmin, ok: 404}, // not found, because the question was merged
	{op: "POST /codelabs/{id}/inline-comments", by: byMember, body: func(w *badWorld) any { return w.c.anchor(w.c.steps[1], 3, 9, "hi") }},
	{op: "POST /codelabs/{id}/inline-comments/{thread_id}/comments", by: byMember, body: always(record{"message": "hi", "content_hash": "abc123"})},
	{op: "POST /codelabs/{id}/help/{help_id}/claim", by: byAdmin},
	{op: "PUT /codelabs/{id}/attendees/{attendee_id}", by: byAttendee, body: always(record{"place": "row 4"})},
	{op: "POST /codelabs/{id}/help/{help_id}/release", by: byAdmin, body: always(record{"reason": "R"}), optional: true},
	{op: "POST /codelabs/{id}/help/answer", by: byAdmin, body: func(w *badWorld) any {
		return record{"help_ids": []any{w.ids["help_id"]}, "message": "M"}
	}},
	{op: "POST /codelabs/{id}/help/{help_id}/resolve", by: byMember},
	{op: "POST /codelabs/{id}/feedback", by: byAttendee, body: always(record{"difficulty": "1", "satisfaction": "5", "comment": "hi"})},
	{op: "POST /codelabs/{id}/quizzes/submit", by: byAttendee, ignored: "is_correct", body: func(w *badWorld) any {
		return record{"submissions": []any{map[string]any{"quiz_id": w.quiz, "answer": "1"}}}
	}},
	{op: "POST /codelabs/{id}/complete", by: byAttendee, body: nothing},
	{op: "POST /check/{check}", by: byChecker, body: always(record{"ok": true, "note": "12 passed"})},
	{op: "PUT /codelabs/{id}/attendees/{attendee_id}", by: byAdmin, body: always(record{"name": "Somebody", "muted": true})},
	{op: "PUT /codelabs/{id}/quizzes", by: byAdmin, body: func(w *badWorld) any {
		return []any{map[string]any{"id": w.quiz, "question": "Q", "quiz_type": "multiple_choice", "options": []any{"a", "b"}, "correct_answer": 0}}
	}},
	{op: "PUT /codelabs/{id}/steps", by: byAdmin, body: func(w *badWorld) any {
		return record{"steps": []any{map[string]any{"id": w.c.steps[0], "title": "T", "content_markdown": "C", "duration_minutes": 1}}}
	}},
	{op: "PUT /codelabs/{id}", by: byAdmin, body: always(record{
		"title": "T", "description": "D", "author": "A", "is_public": false, "guide_markdown": "G", "email_retention_days": 1, "chat_retention_days": 1, "ai_enabled": true,
	})},
	{op: "POST /codelabs/{id}/registration", by: byAdmin, body: always(record{"open": true})},
	{op: "POST /codelabs/{id}/end", by: byAdmin, body: always(record{"ended": false}), optional: true},
	{op: "POST /codelabs/{id}/copy", by: byAdmin, body: nothing},
	{op: "POST /codelabs/{id}/rehearsal", by: byAdmin, body: always(record{"people": 1, "minutes": 1, "force": true}), ok: 201},
	{op: "DELETE /codelabs/{id}/rehearsal", by: byAdmin, ok: 204},
	{op: "POST /admin/sample", by: byAdmin, ok: 201},
	{op: "GET /codelabs/{id}/runs", by: byAdmin},
	{op: "POST /codelabs/{id}/update-from-source", by: byAdmin, body: nothing, ok: 409},
	{op: "POST /codelabs/{id}/check-access", by: byAttendee, body: nothing},
	{op: "POST /codelabs", by: byAdmin, body: always(record{
		"title": "T", "description": "D", "author": "A", "guide_markdown": "G", "email_retention_days": 1, "chat_retention_days": 1, "ai_enabled": true,
	})},
	{op: "POST /codelabs/{id}/materials", by: byAdmin, body: always(record{"title": "T", "material_type": "link", "link_url": "https://example.org/"})},
	{op: "POST /codelabs/{id}/materials", by: byAdmin, body: func(w *badWorld) any {
		return record{"title": "T", "material_type": "file", "file_path": w.material}
	}},
	{op: "DELETE /codelabs/{id}/materials/{material_id}", by: byAdmin, ok: 204},
	{op: "POST /upload/material", by: byAdmin, body: always(form{name: "a.txt", content: []byte("content"), most: 50 << 20})},
	{op: "POST /upload/image", by: byMember, body: always(form{name: "a.png", content: onePixel, most: 5 << 20, image: true})},
	{op: "POST /codelabs/{id}/attendees/{attendee_id}/submissions", by: byAttendee, own: true, body: always(form{name: "a.txt", content: []byte("content"), most: 10 << 20})},
	{op: "POST /codelabs/{id}/attendees/{attendee_id}/submissions/link", by: byAttendee, own: true, body: always(record{"url": "https://example.org/", "title": "T"})},
	{op: "DELETE /codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}", by: byMember, ok: 204},
	{op: "POST /codelabs/import", by: byAdmin, body: always(form{name: "a.md", content: []byte(tutorial), most: 256 << 20})},
	{op: "POST /codelabs/{id}/register", body: func(w *badWorld) any {
		return record{"name": "New", "email": "new@example.org", "code": "1", "join_code": w.c.meta().text("join_code")}
	}},
	{op: "DELETE /codelabs/{id}/inline-comments/{thread_id}/comments/{comment_id}", by: byMember},
	{op: "DELETE /codelabs/{id}/chat/{message_id}", by: byAdmin, ok: 204},
	{op: "POST /codelabs/{id}/attendees/{attendee_id}/reset-pin", by: byAdmin, body: always(record{"code": "1"}), optional: true},
	{op: "POST /codelabs/{id}/reset-pins", by: byAdmin},
	{op: "DELETE /codelabs/{id}/attendees/{attendee_id}", by: byMember, ok: 204},
	{op: "POST /admin/people", by: byAdmin, body: func(w *badWorld) any {
		return record{"login": "probe@example.org", "name": "P", "role": "assistant", "codelabs": []any{w.ids["id"]}}
	}},
	{op: "PUT /admin/people/{person_id}", by: byAdmin, body: always(record{"name": "Q"})},
	{op: "POST /invitations/look", body: func(w *badWorld) any { return record{"token": w.invitation} }},
	{op: "POST /invitations/accept", body: func(w *badWorld) any { return record{"token": w.invitation, "password": goodPassword} }},
	{op: "POST /admin/people/{person_id}/invitation", by: byAdmin},
	{op: "DELETE /admin/people/{person_id}", by: byAdmin, ok: 204},
	{op: "POST /account/password", by: byAdmin, body: always(record{"old": adminPW, "new": goodPassword}), ok: 409},
	{op: "DELETE /account/sessions/{session_id}", by: byAdmin, ok: 204},
	{op: "DELETE /codelabs/{id}", by: byAdmin, ok: 204},
	{op: "POST /admin/participants", by: byAdmin, body: always(record{"name": "P", "kind": "psp", "scopes": []any{"detokenize"}, "environment": "production"})},
	{op: "POST /admin/participants/{participant_id}/keys", by: byAdmin},
	{op: "DELETE /admin/participants/{participant_id}/keys/{key_id}", by: byAdmin, ok: 204},
	{op: "POST /admin/participants/{participant_id}/grants", by: byAdmin, body: func(w *badWorld) any { return record{"participant_id": w.ids["for_id"]} }},
	{op: "DELETE /admin/participants/{participant_id}/grants/{for_id}", by: byAdmin, ok: 204},
	{op: "POST /admin/participants/{participant_id}/acknowledge", by: byAdmin, body: always(record{"version": "1"})},
	{op: "POST /admin/participants/{participant_id}/policy", by: byAdmin, body: always(record{"policy": "ttl", "ttl_seconds": 60})},
	{op: "POST /admin/participants/{participant_id}/disable", by: byAdmin},
	{op: "POST /admin/webhooks", by: byAdmin, body: func(w *badWorld) any {
		return record{"url": "https://hooks.example.org/in", "events": []any{"token_used"}, "codelabs": []any{w.ids["id"]}, "names": true}
	}},
	{op: "GET /admin/webhooks/{webhook_id}/deliveries", by: byAdmin},
	{op: "POST /admin/webhooks/{webhook_id}/test", by: byAdmin},
	{op: "POST /admin/webhooks/{webhook_id}/resume", by: byAdmin, ok: 204},
	{op: "DELETE /admin/webhooks/{webhook_id}", by: byAdmin, ok: 204},
	{op: "POST /admin/tokens", by: byAdmin, body: always(record{"name": "T"})},
	{op: "DELETE /admin/tokens/{token_id}", by: byAdmin, ok: 204},
	{op: "POST /login", body: always(record{"admin_id": adminID, "admin_pw": adminPW, "display_name": "Grace"})},
	{op: "POST /logout", ok: 204},
}

var oneFile = []any{map[string]any{"path": "x.go", "content": "cGFja2FnZSB4", "encoding": "base64", "mode": "100755"}}

// badWorld contains two codelabs that each have an object of every kind. The workspace of the first
// has branches. A third codelab has a workspace with folders.
type badWorld struct {
	t       *testing.T
	c       *class
	nobody  *browser
	checker *browser // a program that reports checks
	own     *person  // an attendee of the codelab c
	foreign *person  // an attendee of the other codelab
	ids     map[string]string
	others  map[string]string // the same kinds of ids, of the other codelab
	quiz    string
	into    string // the id of a second question
	data    string // the data folder
	// material is the path of an uploaded file without references.
	material string
	folders  string // the codelab with folders
	// invitation is the token of an open invitation.
	invitation string
}

func newBadWorld(t *testing.T) *badWorld {
	cfg := testConfig(t)
	cfg.Limits.WritesPerMinute, cfg.Limits.UploadsPerMinute = 0, 0
	cfg.AI.BaseURL = upstreamtest.New(t).URL
	cfg.Limits.QuestionsSeconds, cfg.Limits.ChecksPerMinute = 0, 0
	return badWorldOn(t, startServer(t, cfg).Addr(), cfg.Server.Data)
}

// badWorldOn builds a badWorld on a server without limits.
func badWorldOn(t *testing.T, addr, data string) *badWorld {
	w := &badWorld{t: t, nobody: open(t, addr), data: data}
	w.c, w.own, w.ids, w.quiz = w.furnish(addr, "Own")
	w.checker = open(t, addr)
	w.checker.token = w.own.post(w.c.path+"/check-access", nil).object().text("token")
	w.ids["check"] = "build"
	w.into = w.own.post(w.c.path+"/questions", record{"text": "And why?"}).object().text("id")
	_, w.foreign, w.others, _ = w.furnish(addr, "Foreign")
	delete(w.others, "kind") // files belong to no codelab
	delete(w.others, "name")
	delete(w.others, "code") // a code is not below a codelab
	w.material = w.c.admin.sendFile("/upload/material", "slides.pdf", []byte("%PDF-1.7 of its own")).object().text("url")
	w.ids["branch"], w.ids["folder"] = "main", "main"
	w.folders = newClassOn(t, addr, record{"title": "Folders", "is_public": false}).id
	for lab, kind := range map[string]string{w.ids["id"]: "branch", w.folders: "folder"} {
		w.c.admin.post("/codeserver", record{"codelab_id": lab, "structure_type": kind, "workspace_files": []record{{"path": "a/b", "content": "x"}}}).want(200)
	}
	w.ids["token_id"] = w.c.admin.post("/admin/tokens", record{"name": "probe"}).object().text("id")
	w.ids["webhook_id"] = w.c.admin.post("/admin/webhooks", record{"url": "https://127.0.0.1:1/", "events": []string{"token_used"}}).object().text("id")
	w.ids["person_id"], w.invitation = invite(w.c.admin, record{"login": "invited", "name": "I", "role": "facilitator"})
	facilitator(t, addr, "elsewhere")
	for _, s := range w.c.admin.get("/account").object()["sessions"].([]any) {
		if one := record(s.(map[string]any)); one["current"] == false {
			w.ids["session_id"] = one.text("id")
		}
	}
	psp := w.c.admin.post("/admin/participants", record{"name": "PSP", "kind": "psp", "scopes": []string{"detokenize"}}).object()
	w.ids["participant_id"] = psp.text("id")
	w.ids["key_id"] = record(psp["key"].(map[string]any)).text("id")
	w.ids["for_id"] = w.c.admin.post("/admin/participants", record{"name": "Shop", "kind": "business", "scopes": []string{"detokenize"}}).object().text("id")
	return w
}

func (w *badWorld) furnish(addr, name string) (c *class, p *person, ids map[string]string, quiz string) {
	c = newClassOn(w.t, addr, record{"title": name, "is_public": false, "quiz_enabled": true, "questions": "open"})
	steps := c.readSteps()
	steps[2]["content_markdown"] = "```check build\nIt builds\n```\n- [ ] One\n"
	c.admin.put(c.path+"/steps", record{"steps": steps}).want(200)
	join := c.meta().text("join_code")
	p = c.join(open(w.t, addr), record{"name": name, "email": "x@example.org", "code": "77", "join_code": join})
	ids = map[string]string{"id": c.id, "attendee_id": p.id, "code": join}
	p.post(c.path+"/messages", record{"type": "chat", "message": "hello"}).want(200)
	ids["message_id"] = p.get(c.path + "/chat").list()[0].text("id")
	thread := p.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "why")).object()
	ids["thread_id"] = thread.text("id")
	ids["comment_id"] = record(thread["messages"].([]any)[0].(map[string]any)).text("id")
	p.post(c.path+"/help", record{"step_number": 1}).want(200)
	ids["help_id"] = p.get(c.path + "/help").list()[0].text("id")
	url := c.admin.sendFile("/upload/material", "slides.pdf", []byte("%PDF-1.7 of "+name)).object().text("url")
	parts := strings.Split(url, "/")
	ids["kind"], ids["name"] = parts[2], parts[3]
	ids["material_id"] = c.admin.post(c.path+"/materials", record{"title": "M", "material_type": "file", "file_path": url}).object().text("id")
	ids["submission_id"] = p.sendFile(c.path+"/attendees/"+p.id+"/submissions", "a.txt", []byte("by "+name)).object().text("id")
	quiz = c.admin.put(c.path+"/quizzes", []record{{"question": "Q", "quiz_type": "multiple_choice", "options": []string{"a", "b"}, "correct_answer": 1}}).list()[0].text("id")
	ids["poll_id"] = c.admin.post(c.path+"/polls", record{"lines": "Which?\n- a\n- b"}).object().text("id")
	other := c.join(open(w.t, addr), record{"name": "Somebody else", "join_code": join})
	ids["question_id"] = other.post(c.path+"/questions", record{"text": "Why?", "anonymous": true}).object().text("id")
	return c, p, ids, quiz
}

// path returns the path of an operation. ids replaces some of the valid ids.
func (w *badWorld) path(p probe, ids map[string]string) string {
	_, template, _ := strings.Cut(p.op, " ")
	if strings.Contains(template, "/folder") && ids["id"] == "" {
		template = strings.Replace(template, "{id}", w.folders, 1)
	}
	return w.fill(template, ids)
}

// fill replaces the parameters of a template with the valid ids, or with those in ids.
func (w *badWorld) fill(template string, ids map[string]string) string {
	for name, id := range w.ids {
		if other := ids[name]; other != "" {
			id = other
		}
		template = strings.ReplaceAll(template, "{"+name+"}", id)
	}
	return template
}

// withoutNow removes the server's current time from the body of a codelab.
func withoutNow(body []byte) []byte { return serversTime.ReplaceAll(body, nil) }

var serversTime = regexp.MustCompile(`"now":"[^"]*",`)

// state returns all data that a request could have changed.
func (w *badWorld) state() string {
	var b strings.Builder
	for _, path := range []string{"", "/chat", "/inline-comments", "/attendees", "/help", "/feedback", "/polls", "/questions", "/quizzes", "/quizzes/submissions", "/materials", "/submissions", "/ai/conversations"} {
		for _, id := range []string{w.ids["id"], w.others["id"]} {
			a := w.c.admin.send(http.MethodGet, "/codelabs/"+id+path, nil).want(200)
			fmt.Fprintf(&b, "%s %s\n", a.header.Get("X-Codelab-Seq"), withoutNow(a.body))
		}
	}
	for _, of := range []string{w.ids["id"] + "/branches", w.folders + "/folders"} {
		fmt.Fprintf(&b, "%s\n", w.c.admin.send(http.MethodGet, "/codeserver/"+of+"/main/files", nil).body)
	}
	fmt.Fprintf(&b, "%s\n%s\n", w.c.admin.send(http.MethodGet, "/codelabs", nil).body, w.c.admin.send(http.MethodGet, "/admin/tokens", nil).body)
	for _, path := range []string{"/admin/participants", "/admin/people", "/admin/webhooks"} {
		fmt.Fprintf(&b, "%s\n", w.c.admin.send(http.MethodGet, path, nil).body)
	}
	for _, r := range w.c.admin.send(http.MethodGet, "/admin/audit-logs?limit=1000", nil).list() {
		if a := r.text("action"); a != "admin_login_failed" && a != "access_denied" {
			fmt.Fprintln(&b, r)
		}
	}
	for _, path := range filesIn(w.t, w.data) {
		fmt.Fprintln(&b, path)
	}
	return b.String()
}

// pulse returns the part of the state in which every change is visible. It is compared after each
// attempt.
func (w *badWorld) pulse() string {
	var b strings.Builder
	for _, id := range []string{w.ids["id"], w.others["id"], w.folders} {
		fmt.Fprintln(&b, w.c.admin.send(http.MethodGet, "/codelabs/"+id+"/help", nil).want(200).header.Get("X-Codelab-Seq"))
	}
	// On a busy machine, the refusals of many minutes would fill a shorter list.
	for _, r := range w.c.admin.send(http.MethodGet, "/admin/audit-logs?limit=1000", nil).list() {
		if a := r.text("action"); a != "admin_login_failed" && a != "access_denied" {
			fmt.Fprintln(&b, r["id"])
			break
		}
	}
	fmt.Fprintln(&b, filesIn(w.t, w.data))
	return b.String()
}

// right returns a browser that is allowed to call the operation.
func (w *badWorld) right(p probe) *browser {
	switch p.by {
	case byAnyone:
		return w.nobody
	case byAttendee:
		return w.own.browser
	case byChecker:
		return w.checker
	}
	return w.c.admin
}

// attempt is a bad request.
type attempt struct {
	what   string
	by     *browser
	method string
	path   string
	body   any
	opts   []option
	status int
	names  string // text that the error must contain
	stray  bool   // the request calls no operation, so the document does not describe it
}

// send sends the request. On a busy machine, the server can close the connection of a body that is
// too large before the client has read the response, so this request is repeated.
func (a attempt) send() (got answer) {
	switch {
	case a.status == http.StatusRequestEntityTooLarge:
		eventual(a.by.t, "a response to a large body", func() (ok bool) {
			var err error
			got, err = a.by.try(a.method, a.path, a.body, a.opts...)
			return err == nil
		})
		return got
	case a.stray:
		return a.by.send(a.method, a.path, a.body, a.opts...)
	}
	return a.by.do(a.method, a.path, a.body, a.opts...)
}

func TestBadRequestsAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	w := newBadWorld(t)
	n := 0
	for _, p := range probes {
		before, pulse := w.state(), w.pulse()
		for _, a := range w.attempts(p) {
			n++
			got := a.send()
			name := fmt.Sprintf("%s: %s (%s)", p.op, a.what, brief(a.body))
			if got.status != a.status {
				t.Errorf("%s: status %d, want %d: %.200s", name, got.status, a.status, got.body)
				continue
			}
			if text := got.error(); !strings.Contains(text, a.names) {
				t.Errorf("%s: the error %q does not contain %s", name, text, a.names)
			}
			if now := w.pulse(); now != pulse {
				t.Fatalf("%s: the refused request changed something:\n%s\n%s", name, before, w.state())
			}
		}
		if after := w.state(); after != before {
			t.Fatalf("%s: refused requests changed something:\n%s\n%s", p.op, before, after)
		}
	}
	t.Logf("%d attempts", n)
	if n < 600 {
		t.Errorf("only %d attempts were made", n)
	}
	for _, p := range probes {
		if p.ok == notCalled {
			continue
		}
		method, _, _ := strings.Cut(p.op, " ")
		var body any
		if p.body != nil {
			body = p.body(w)
		}
		var opts []option
		if f, ok := body.(form); ok {
			body, opts = f.encode()
		}
		if got, want := w.right(p).do(method, w.path(p, nil)+p.query, body, opts...), max(p.ok, 200); got.status != want {
			t.Errorf("%s: the valid request returned %d, want %d: %.200s", p.op, got.status, want, got.body)
		}
	}
}

func TestBadRequestsCoverEveryOperation(t *testing.T) {
	t.Parallel()
	probed := map[string]bool{}
	for _, p := range probes {
		probed[strings.Replace(p.op, "/certificates/{attendee_id}", "/certificates/{id}", 1)] = true
	}
	for _, op := range offered() {
		name := op.Method + " " + op.Path
		if op.Basic {
			continue // the tests of Git cover wrong requests
		}
		if !probed[name] {
			t.Errorf("operation %s is not in the table", name)
		}
		delete(probed, name)
	}
	for name := range probed {
		t.Errorf("%s is in the table, but is not an operation", name)
	}
}

func brief(body any) string {
	b, _ := json.Marshal(body)
	if raw, ok := body.([]byte); ok {
		b = raw
	}
	return fmt.Sprintf("%.80q", b)
}
