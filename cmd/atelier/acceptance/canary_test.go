package acceptance

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"atelier/cmd/atelier/service"
	"atelier/transport/ai/upstream/upstreamtest"
	"atelier/transport/auth"
)

// logged collects a log. It is safe for concurrent use.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The test runs a workshop with unique texts. Afterwards it verifies that the log and the metrics
// contain none of them, and that the audit trail contains no secret.
func TestSecretsAndUserTextsStayOutOfLogMetricsAndAudit(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Admin.Password = "canary-password-one"
	cfg.Session.Key = "canary-session-key-0123456789abcdef-0123456789"
	cfg.Log.Level = "debug"
	up := upstreamtest.New(t)
	cfg.AI.BaseURL = up.URL
	if _, err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	var log logged
	s, err := service.Start(cfg, service.Options{}, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{string(cfg.Admin.Password), string(cfg.Session.Key), "canary-guess", "canary-pin", "canary-bearer"}
	words := []string{"canary-chat", "canary-dm", "canary-comment", "canary-mail@example.org", "canary-name", "canary-feedback", "canary-answer", "canary-broken"}

	c := &class{t: t, addr: s.Addr(), admin: open(t, s.Addr())}
	c.admin.post("/login", record{"admin_id": adminID, "admin_pw": "canary-guess"}).refused(401)
	c.admin.post("/login", record{"admin_id": adminID, "admin_pw": "canary-password-one"}).want(200)
	c.id = c.admin.post("/codelabs", record{"title": "T"}).object().text("id")
	c.path = "/codelabs/" + c.id
	c.setSteps("one")
	lin := c.join(open(t, s.Addr()), record{"name": "canary-name", "code": "canary-pin-1", "email": "canary-mail@example.org"})
	open(t, s.Addr()).post(c.path+"/register", record{"name": "canary-name", "code": "canary-pin-2"}).refused(409)
	token := c.admin.post("/admin/tokens", record{"name": "t"}).object().text("token")
	robot := open(t, s.Addr())
	robot.token = token
	robot.get(c.path + "/attendees").want(200)
	robot.token = "canary-bearer"
	robot.get(c.path + "/attendees").refused(401)
	live := lin.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "canary-chat"}, "r1")
	live.acked(record{"type": "dm", "target_id": "facilitator", "message": "canary-dm"}, "r2")
	if e := live.ask(record{"type": "canary-broken"}, "r3"); strings.Contains(e.text("error"), "canary") {
		t.Errorf("an error repeats the sent text: %v", e)
	}
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "canary-comment")).want(200)
	lin.post(c.path+"/inline-comments", `{"message": "canary-broken`).refused(400)
	lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "1", "comment": "canary-feedback"}).want(200)
	quiz := c.quizzes(record{"question": "q", "quiz_type": "descriptive"})[0].text("id")
	lin.post(c.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": quiz, "answer": "canary-answer"}}}).want(200)
	c.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", record{"code": "canary-pin-3"}).want(200)
	c.join(lin.browser, record{"name": "canary-name", "code": "canary-pin-3"})
	c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": true}).want(200)
	sealed := encryptedWith(t, string(cfg.Admin.Password), "canary-ai-key")
	c.admin.post("/admin/settings", record{"ai_api_key": sealed}).want(200)
	c.admin.post("/admin/settings", record{"ai_api_key": "canary-plain-key"}).refused(400)
	lin.post("/ai/stream", record{"prompt": "canary-prompt", "codelab_id": c.id, "api_key": "canary-plain-key"}).refused(400)
	up.Script(func(a *upstreamtest.Answer) { a.Whole("canary-ai-answer") })
	lin.ask(record{"prompt": "canary-prompt", "codelab_id": c.id, "system_instruction": "canary-system", "api_key": sealed}).whole()
	up.Script(func(a *upstreamtest.Answer) { a.Refuse(401, "canary-upstream says canary-ai-key is wrong") })
	lin.post("/ai/stream", record{"prompt": "canary-prompt", "codelab_id": c.id}).refused(502)
	lin.post("/ai/conversations", record{"codelab_id": c.id, "question": "canary-prompt", "answer": "canary-ai-answer"}).want(200)
	c.workspace("branch", file("canary-path", "canary-code"))
	c.admin.post(c.code()+"/branches/main/files", record{"files": []record{file("a", "canary-code")}, "commit_message": "canary-message"}).want(200)
	secrets = append(secrets, "canary-ai-key", "canary-plain-key", sealed)
	words = append(words, "canary-prompt", "canary-system", "canary-ai-answer", "canary-upstream", "canary-path", "canary-code", "canary-message")
	for _, b := range []*browser{c.admin, lin.browser} {
		secrets = append(secrets, b.cookie(auth.SessionCookie), b.cookie(auth.CSRFCookie))
	}
	secrets = append(secrets, token)

	audit := string(c.admin.get("/admin/audit-logs?limit=1000").body)
	status, metrics := internal(s.InternalAddr(), "/metrics")
	if status != 200 || !strings.Contains(metrics, `atelier_http_request_seconds_count{operation="POST /login",status="401"} 1`) {
		t.Errorf("metrics: %d\n%.500s", status, metrics)
	}
	_ = live.conn.Close()
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, where := range []struct {
		name, text string
		markers    []string
	}{
		{"log", log.String(), append(words, secrets...)}, {"metrics", metrics, append(words, append(secrets, c.id, lin.id)...)}, {"audit trail", audit, secrets},
	} {
		if len(where.text) < 200 {
			t.Errorf("the %s is suspiciously short: %q", where.name, where.text)
		}
		for _, marker := range where.markers {
			if marker == "" || strings.Contains(where.text, marker) {
				t.Errorf("the %s contains %q", where.name, marker)
			}
		}
	}
}
