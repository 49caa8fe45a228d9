package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/transport/ai/keys"
	"atelier/transport/ai/upstream/upstreamtest"
)

const aiKey = "canary-ai-key-123"

// encryptedKey returns an AI key, encrypted as a browser sends it.
func encryptedKey(t testing.TB) string {
	t.Helper()
	return encryptedWith(t, adminPW, aiKey)
}

func encryptedWith(t testing.TB, password, key string) string {
	t.Helper()
	text, err := keys.Encrypt(password, key, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// aiClass returns a class on its own server, with an upstream and a key.
func aiClass(t *testing.T, change func(*config.Config)) (*class, *upstreamtest.Server) {
	t.Helper()
	up := upstreamtest.New(t)
	cfg := testConfig(t)
	cfg.AI.BaseURL = up.URL
	cfg.AI.Models = []string{"other-model"}
	if change != nil {
		change(&cfg)
	}
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	c.admin.post("/admin/settings", record{"ai_api_key": encryptedKey(t)}).want(200)
	return c, up
}

// talk is a streamed response from the AI, which the test reads event by event.
type talk struct {
	t     testing.TB
	res   *http.Response
	lines *bufio.Scanner
	end   context.CancelFunc
}

// ask sends a prompt to the AI and returns when the response begins.
func (b *browser) ask(body record) *talk {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+"/api/ai/stream", bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	b.authenticate(req)
	res, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	k := &talk{b.t, res, bufio.NewScanner(res.Body), cancel}
	b.t.Cleanup(k.leave)
	if res.StatusCode != 200 {
		b.t.Fatalf("the question returned status %d", res.StatusCode)
	}
	if err := verifyAnswer(http.MethodPost, "/ai/stream", 200, res.Header, nil); err != nil {
		b.t.Errorf("undocumented: %v", err)
	}
	return k
}

func (k *talk) leave() {
	k.end()
	_ = k.res.Body.Close()
}

// next returns the name and data of the next event, and the number of comments before it. ok is
// false at the end.
func (k *talk) next() (name, data string, comments int, ok bool) {
	k.t.Helper()
	for k.lines.Scan() {
		switch line := k.lines.Text(); {
		case strings.HasPrefix(line, ":"):
			comments++
		case strings.HasPrefix(line, "event: "):
			name = line[7:]
		case strings.HasPrefix(line, "data: "):
			data = line[6:]
		case line == "" && data != "":
			schema := pointer{"components", "schemas", "AIEvent"}
			if name == "error" {
				schema[2] = "Error"
			}
			if err := openAPI.validate(schema, []byte(data)); err != nil {
				k.t.Errorf("undocumented: %v", err)
			}
			return name, data, comments, true
		}
	}
	return "", "", comments, false
}

// text returns the text of the next event.
func (k *talk) text() string {
	k.t.Helper()
	name, data, _, ok := k.next()
	if !ok || name != "" {
		k.t.Fatalf("want text, got event %q with %q, %v", name, data, k.lines.Err())
	}
	return textOf(data)
}

func textOf(data string) string {
	var e struct {
		Candidates []struct {
			Content struct {
				Parts []struct{ Text string }
			}
		}
	}
	_ = json.Unmarshal([]byte(data), &e)
	return e.Candidates[0].Content.Parts[0].Text
}

// whole reads to the end. It returns all text, and the text of the error event.
func (k *talk) whole() (text, failed string) {
	k.t.Helper()
	for {
		name, data, _, ok := k.next()
		switch {
		case !ok:
			if err := k.lines.Err(); err != nil {
				k.t.Errorf("the stream ended early: %v", err)
			}
			return text, failed
		case name == "error":
			failed = data
		default:
			text += textOf(data)
		}
	}
}

func TestTheFirstTokenReachesTheClientAtOnce(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, nil)
	next := make(chan struct{})
	up.Script(func(a *upstreamtest.Answer) {
		a.Text("first")
		<-next
		a.Text("second")
		<-next
		a.End(7, 3)
	})
	lin := c.attendee("Lin")
	k := lin.ask(record{"prompt": "why", "codelab_id": c.id, "step_number": 2})
	if got := k.text(); got != "first" {
		t.Errorf("the first text is %q, want \"first\"", got)
	}
	next <- struct{}{} // only now the upstream sends more
	if got := k.text(); got != "second" {
		t.Errorf("the second text is %q, want \"second\"", got)
	}
	next <- struct{}{}
	if text, failed := k.whole(); text != "" || failed != "" {
		t.Errorf("after the second text: %q, error %q", text, failed)
	}
	q := up.Last()
	system := fmt.Sprint(q.Body["system_instruction"])
	if !strings.Contains(system, "About two") || !strings.Contains(system, `step 2 of 3, titled "two"`) || q.Header.Get("X-Goog-Api-Key") != aiKey {
		t.Errorf("the upstream received the system instruction %v and the headers %v", system, q.Header)
	}
	if got := c.audited(); got[0] != "ai_query" {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestADisconnectedClientCancelsTheUpstreamRequest(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, nil)
	for _, begun := range []bool{true, false} {
		asked, gone := make(chan struct{}), make(chan struct{})
		up.Script(func(a *upstreamtest.Answer) {
			if begun {
				a.Text("first")
			}
			close(asked)
			<-a.Gone()
			close(gone)
		})
		if begun {
			k := c.admin.ask(record{"prompt": "why"})
			k.text()
			k.leave()
		} else {
			leave := askAndLeave(t, c)
			<-asked
			leave()
		}
		select {
		case <-gone:
		case <-time.After(testTimeout):
			t.Fatal("the upstream request is still running")
		}
	}
	c.eventually("failures are counted", func() bool { return c.admin.get("/admin/ai/usage").object().number("failed") == 2 })
}

// askAndLeave sends a prompt on a bare connection and returns a function that closes it.
func askAndLeave(t *testing.T, c *class) (leave func()) {
	t.Helper()
	token := c.admin.post("/admin/tokens", record{"name": "leaver"}).object().text("token")
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"prompt":"why"}`
	fmt.Fprintf(conn, "POST /api/ai/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	return func() { _ = conn.Close() }
}

func (c *class) eventually(what string, holds func() bool) {
	c.t.Helper()
	eventual(c.t, what, holds)
}

func TestHeartbeatsAreSentWhileTheUpstreamIsSilent(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, func(cfg *config.Config) { cfg.AI.Heartbeat = config.Duration(10 * time.Millisecond) })
	next := make(chan struct{})
	up.Script(func(a *upstreamtest.Answer) {
		a.Text("first")
		<-next
		a.End(1, 1)
	})
	k := c.admin.ask(record{"prompt": "why"})
	k.text()
	for beats := 0; beats < 3; {
		if !k.lines.Scan() {
			t.Fatal("the stream ended")
		}
		if strings.HasPrefix(k.lines.Text(), ":") {
			beats++
		}
	}
	next <- struct{}{}
	k.whole()
}

func TestFailuresOfTheUpstreamAreReportedWithoutTheKey(t *testing.T) {
	t.Parallel()
	// Each person can have one stream. The server frees the place of a stream before it sends the
	// end of the response, so the next request is not refused.
	c, up := aiClass(t, func(cfg *config.Config) { cfg.Limits.AIPerMinute, cfg.AI.MaxStreamsPerPerson = 0, 1 })
	for name, f := range map[string]struct {
		status int
		retry  string
		script func(*upstreamtest.Answer)
	}{
		"401":         {502, "", func(a *upstreamtest.Answer) { a.Refuse(401, aiKey) }},
		"403":         {502, "", func(a *upstreamtest.Answer) { a.Refuse(403, aiKey) }},
		"400":         {502, "", func(a *upstreamtest.Answer) { a.Refuse(400, "") }},
		"500":         {502, "", func(a *upstreamtest.Answer) { a.Refuse(500, "") }},
		"429":         {503, "9", func(a *upstreamtest.Answer) { a.Refuse(429, "", "Retry-After", "9") }},
		"503":         {503, "5", func(a *upstreamtest.Answer) { a.Refuse(503, "") }},
		"garbage":     {502, "", func(a *upstreamtest.Answer) { a.Raw("data: <html>\n\n") }},
		"nothing":     {502, "", func(a *upstreamtest.Answer) { a.Refuse(200, "", "Content-Type", "text/event-stream") }},
		"cut":         {502, "", func(a *upstreamtest.Answer) { a.Raw("data: {"); a.Cut() }},
		"only an end": {502, "", func(a *upstreamtest.Answer) { a.Raw("data: [DONE]\n\n") }},
	} {
		up.Script(f.script)
		got := c.admin.post("/ai/stream", record{"prompt": "why"}).want(f.status)
		if text := got.error(); strings.Contains(text, aiKey) || got.header.Get("Retry-After") != f.retry {
			t.Errorf("%s: error %q, Retry-After %q", name, text, got.header.Get("Retry-After"))
		}
	}
	for name, script := range map[string]func(*upstreamtest.Answer){
		"garbage": func(a *upstreamtest.Answer) { a.Text("first"); a.Raw("data: <html>\n\n") },
		"cut":     func(a *upstreamtest.Answer) { a.Text("first"); a.Raw("data: {"); a.Cut() },
		"huge":    func(a *upstreamtest.Answer) { a.Text("first"); a.Raw("data: " + strings.Repeat("x", 3<<20) + "\n\n") },
	} {
		up.Script(script)
		if text, failed := c.admin.ask(record{"prompt": "why"}).whole(); text != "first" || failed == "" {
			t.Errorf("%s: text %q, error %q", name, text, failed)
		}
	}
}

// Each server has only one short limit, so that a busy machine does not exceed the other one.
func TestASilentUpstreamIsGivenUp(t *testing.T) {
	t.Parallel()
	short := config.Duration(50 * time.Millisecond)
	c, up := aiClass(t, func(cfg *config.Config) { cfg.AI.FirstByteTimeout = short })
	up.Script(func(a *upstreamtest.Answer) { <-a.Gone() })
	got := c.admin.post("/ai/stream", record{"prompt": "why"}).want(504)
	if text := got.error(); strings.Contains(text, aiKey) || got.header.Get("Retry-After") != "" {
		t.Errorf("error %q, Retry-After %q", text, got.header.Get("Retry-After"))
	}
	c, up = aiClass(t, func(cfg *config.Config) { cfg.AI.IdleTimeout = short })
	up.Script(func(a *upstreamtest.Answer) { a.Text("first"); <-a.Gone() })
	if text, failed := c.admin.ask(record{"prompt": "why"}).whole(); text != "first" || failed == "" {
		t.Errorf("text %q, error %q", text, failed)
	}
}

func TestTheOpenAIProtocolIsSupported(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, func(cfg *config.Config) { cfg.AI.Provider, cfg.AI.Model = "openai", "gpt" })
	text, failed := c.admin.ask(record{"prompt": "why", "system_instruction": "S", "model": "other-model", "generation_config": record{"max_output_tokens": 5}}).whole()
	if q := up.Last(); text != "Hello world" || failed != "" || q.Path != "/chat/completions" || q.Header.Get("Authorization") != "Bearer "+aiKey ||
		q.Body["model"] != "other-model" || q.Body["max_tokens"] != 5.0 || fmt.Sprint(q.Body["messages"]) != "[map[content:S role:system] map[content:why role:user]]" {
		t.Errorf("text %q, error %q, path %s, request %s", text, failed, q.Path, q.Text)
	}
	c.admin.post("/ai/stream", record{"prompt": "why", "tools": record{"google_search": record{}}}).refused(400, "tools")
	c.eventually("usage is counted", func() bool { return c.admin.get("/admin/ai/usage").object().number("total_tokens") == 10 })
}

// With each of the two protocols, a blocked prompt ends in an event with the reason. A response in
// the OpenAI protocol that is cut off ends in an error.
func TestABlockedPromptEndsAlikeWithBothProtocols(t *testing.T) {
	t.Parallel()
	blocks := map[string]record{
		"gemini": {"promptFeedback": record{"blockReason": "OTHER"}},
		"openai": {"choices": []any{record{"delta": record{}, "finish_reason": "content_filter"}}},
	}
	errors := map[string]string{}
	for provider, block := range blocks {
		c, up := aiClass(t, func(cfg *config.Config) { cfg.AI.Provider = provider })
		up.Script(func(a *upstreamtest.Answer) { a.Event(block) })
		k := c.admin.ask(record{"prompt": "why", "model": "other-model"})
		_, data, _, ok := k.next()
		errors[provider] = data
		if !ok || !strings.Contains(data, `"finishReason":"SAFETY"`) {
			t.Errorf("%s: the event for the block is %q", provider, data)
		}
		if text, failed := k.whole(); text != "" || failed != "" {
			t.Errorf("%s: after the block: text %q, error %q", provider, text, failed)
		}
		up.Script(func(a *upstreamtest.Answer) { a.Text("first") })
		if text, failed := c.admin.ask(record{"prompt": "why"}).whole(); text != "first" || (failed == "") != (provider == "gemini") {
			t.Errorf("%s: a stream without an end returned the text %q, error %q", provider, text, failed)
		}
	}
	if errors["gemini"] != errors["openai"] {
		t.Errorf("the block is reported as %s with Gemini, %s with OpenAI", errors["gemini"], errors["openai"])
	}
}

func TestTheAIAnswersMembersOnly(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, nil)
	other := newClassOn(t, c.addr, record{"title": "other"})
	lin, eve := c.attendee("Lin"), other.attendee("Eve")
	why := func(more ...any) record {
		r := record{"prompt": "why"}
		for i := 0; i < len(more); i += 2 {
			r[more[i].(string)] = more[i+1]
		}
		return r
	}
	open(t, c.addr).post("/ai/stream", why("codelab_id", c.id)).refused(401)
	lin.post("/ai/stream", why("codelab_id", other.id)).refused(403)
	lin.post("/ai/stream", why("codelab_id", unknownID)).refused(403)
	eve.post("/ai/conversations", record{"codelab_id": c.id, "question": "Q", "answer": "A"}).refused(403)
	c.admin.post("/ai/conversations", record{"question": "Q", "answer": "A"}).refused(400, "codelab_id")
	c.admin.post("/ai/stream", why("codelab_id", unknownID)).refused(404)
	c.admin.post("/ai/stream?as=attendee", why()).refused(403)
	lin.post("/ai/stream", why("codelab_id", c.id, "step_number", 4)).refused(400, "step_number")
	lin.post("/ai/stream", why("codelab_id", c.id, "tools", record{"google_search": record{}})).refused(403, "tools")
	lin.post("/ai/stream", why("codelab_id", c.id, "system_instruction", strings.Repeat("ä", 50_001))).refused(400, "system_instruction")
	lin.post("/ai/stream", record{"codelab_id": c.id}).refused(400, "prompt or contents")
	lin.post("/ai/stream", record{"codelab_id": c.id, "contents": []any{}}).refused(400, "prompt or contents")
	lin.post("/ai/stream", why("codelab_id", c.id, "contents", []any{record{"role": "system", "parts": []any{record{"text": "x"}}}})).refused(400, "role")
	if n := len(up.Asked()); n != 0 {
		t.Errorf("%d refused questions were sent upstream, want 0", n)
	}
	c.admin.ask(why("tools", record{"google_search": record{}}, "codelab_id", c.id)).whole()
	lin.ask(why("codelab_id", c.id)).whole()

	c.admin.put(c.path, record{"ai_enabled": false}).want(200)
	lin.post("/ai/stream", why("codelab_id", c.id)).refused(403, "switched off")
	c.admin.ask(why("codelab_id", c.id)).whole()
	c.admin.put(c.path, record{"ai_enabled": true}).want(200)
	c.admin.post(c.path+"/end", nil).want(200)
	lin.post("/ai/stream", why("codelab_id", c.id)).refused(409, "ended")
	if n := len(up.Asked()); n != 3 {
		t.Errorf("%d questions were sent upstream, want 3", n)
	}
}

func TestConcurrentAnswersAreBounded(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, func(cfg *config.Config) {
		cfg.Limits.AIPerMinute, cfg.AI.MaxStreamsPerPerson, cfg.AI.MaxStreams = 0, 2, 3
	})
	up.Script(func(a *upstreamtest.Answer) { a.Text("first"); <-a.Gone() })
	lin, max, eve := c.attendee("Lin"), c.attendee("Max"), c.attendee("Eve")
	why := record{"prompt": "why", "codelab_id": c.id}
	one, two := lin.ask(why), lin.ask(why)
	lin.post("/ai/stream", why).refused(429, "your questions")
	max.ask(why)
	eve.post("/ai/stream", why).refused(503, "too many people")
	one.leave()
	two.leave()
	up.Script(func(a *upstreamtest.Answer) { a.Whole("ok") })
	for _, p := range []*person{eve, lin, lin} {
		c.eventually("the places are free", func() bool { return p.send(http.MethodPost, "/ai/stream", why).status == 200 })
	}
}

func TestQuestionsPerPersonAndMinuteAreLimited(t *testing.T) {
	t.Parallel()
	c, _ := aiClass(t, func(cfg *config.Config) { cfg.Limits.AIPerMinute = 2 })
	lin := c.attendee("Lin")
	why := record{"prompt": "why", "codelab_id": c.id}
	lin.ask(why).whole()
	lin.ask(why).whole()
	lin.post("/ai/stream", why).refused(429, "too many questions")
	c.attendee("Max").ask(why).whole()
}

func TestTheAIKeyInTheSettingsIsUsedAndKeptSecret(t *testing.T) {
	t.Parallel()
	up := upstreamtest.New(t)
	cfg := testConfig(t)
	cfg.AI.BaseURL = up.URL
	s := startUntilStopped(t, cfg)
	b := facilitator(t, s.Addr(), "")
	state := func() string {
		got := b.get("/admin/settings").object()
		return fmt.Sprint(got["ai_api_key_set"], got["ai_api_key_usable"])
	}
	used := func() string {
		text, failed := b.ask(record{"prompt": "why"}).whole()
		if text != "Hello world" || failed != "" {
			t.Errorf("the answer is %q, error %q", text, failed)
		}
		return up.Last().Header.Get("X-Goog-Api-Key")
	}
	restart := func() {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		b.http.CloseIdleConnections()
		s = startUntilStopped(t, cfg)
		b = open(t, s.Addr())
		b.post("/login", record{"admin_id": adminID, "admin_pw": string(cfg.Admin.Password)}).want(200)
	}
	own := encryptedWith(t, adminPW, "own-key")
	b.post("/ai/stream", record{"prompt": "why"}).refused(400, "no AI key")
	b.post("/ai/stream", record{"prompt": "why", "api_key": "plaintext"}).refused(400, "ADMIN_PW")
	if got := b.ask(record{"prompt": "why", "api_key": own}); got.text() == "" || up.Last().Header.Get("X-Goog-Api-Key") != "own-key" {
		t.Error("the key of the request is not used")
	}
	for _, bad := range []string{"plaintext", encryptedWith(t, "other password", aiKey), encryptedKey(t)[:80], strings.Replace(encryptedKey(t), "v1:", "v2:", 1)} {
		b.post("/admin/settings", record{"ai_api_key": bad}).refused(400, "ADMIN_PW")
	}
	if got := state(); got != "false false" {
		t.Errorf("before the key is set, the state is %s, want \"false false\"", got)
	}
	first, second := encryptedKey(t), encryptedWith(t, "another password", "new-key")
	b.post("/admin/settings", record{"ai_api_key": first}).want(200)
	if got := used(); got != aiKey || state() != "true true" {
		t.Errorf("the key used is %q, the state %s", got, state())
	}
	// The stored key takes precedence, but a key in the request must still be valid.
	b.ask(record{"prompt": "why", "api_key": own}).whole()
	if got := up.Last().Header.Get("X-Goog-Api-Key"); got != aiKey {
		t.Errorf("the key used is %q, want %q", got, aiKey)
	}
	b.post("/ai/stream", record{"prompt": "why", "api_key": "plaintext"}).refused(400, "ADMIN_PW")
	restart()
	if got := used(); got != aiKey {
		t.Errorf("after a restart, the key used is %q, want %q", got, aiKey)
	}
	cfg.Admin.Password = "another password"
	restart()
	if got := state(); got != "true false" {
		t.Errorf("after a change of ADMIN_PW, the state is %s, want \"true false\"", got)
	}
	b.post("/ai/stream", record{"prompt": "why"}).refused(400, "set again")
	b.post("/admin/settings", record{"ai_api_key": second}).want(200)
	if got := used(); got != "new-key" {
		t.Errorf("the key used is %q, want \"new-key\"", got)
	}
	b.post("/admin/settings", record{"ai_api_key": ""}).want(200)
	b.post("/ai/stream", record{"prompt": "why"}).refused(400, "no AI key")
	audit := texts(b.get("/admin/audit-logs?limit=1000").list(), "action")
	if n := len(slices.DeleteFunc(audit, func(a string) bool { return a != "settings_update" })); n != 3 {
		t.Errorf("%d changes of the settings are audited, want 3", n)
	}
	saved := backup(t, cfg.Server.Data)
	for _, secret := range []string{aiKey, "new-key", first, second} {
		if bytes.Contains(saved, []byte(secret)) {
			t.Error("a backup contains a key or its ciphertext")
		}
	}
	b.http.CloseIdleConnections()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestConversationsAreSavedAndErasedWithTheirPerson(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	id := lin.post("/ai/conversations", record{"codelab_id": c.id, "step_number": 2, "question": "Warum? ä", "answer": " A\n", "model": " m "}).object().text("id")
	max.post("/ai/conversations", record{"codelab_id": c.id, "question": "Q", "answer": "A"}).want(200)
	c.admin.post("/ai/conversations", record{"codelab_id": c.id, "question": "Q", "answer": "A"}).want(200)
	lin.post("/ai/conversations", record{"codelab_id": c.id, "question": "Q", "answer": "A", "step_number": 9}).refused(400, "step_number")
	lin.get(c.path + "/ai/conversations").refused(403)
	all := c.admin.get(c.path + "/ai/conversations").list()
	first := all[0]
	if len(all) != 3 || first.text("id") != id || first.text("user_id") != lin.id || first.text("user_type") != "attendee" || first.text("user_name") != "Lin" ||
		first.number("step_number") != 2 || first.text("question") != "Warum? ä" || first.text("answer") != " A\n" || first.text("model") != config.Default().AI.Model ||
		all[1]["step_number"] != nil || all[2].text("user_type") != "admin" {
		t.Errorf("the saved conversations are %v", all)
	}
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	if got := texts(c.admin.get(c.path+"/ai/conversations").list(), "user_name"); !slices.Equal(got, []string{"Max", "Facilitator"}) {
		t.Errorf("the remaining conversations belong to %v", got)
	}
}

// The reference app sends a system instruction as long as the workshop, a model of its own choice
// and, for attendees, no codelab. An earlier version of the server refused each of these.
func TestTheExistingAppGetsAnswers(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, nil)
	up.Script(func(a *upstreamtest.Answer) {
		a.Event(record{"candidates": []record{{
			"content":           record{"parts": []record{{"text": "grounded"}}},
			"groundingMetadata": record{"webSearchQueries": []string{"<q>"}, "groundingChunks": []record{{"web": record{"uri": "https://example.org/"}}}},
		}}})
		a.Event(record{"candidates": []record{{"groundingMetadata": record{"alone": true}}}})
		a.End(1, 1)
	})
	k := c.admin.ask(record{"prompt": "why", "system_instruction": strings.Repeat("ä", 217_000), "model": "gemini-unheard-of", "tools": record{"google_search": record{}}})
	_, data, _, _ := k.next()
	for _, part := range []string{`"modelVersion":"` + config.Default().AI.Model + `"`, `"groundingMetadata":{`, `"webSearchQueries":["<q>"]`, `"uri":"https://example.org/"`} {
		if !strings.Contains(data, part) {
			t.Errorf("the answer lacks %s: %s", part, data)
		}
	}
	if _, data, _, _ = k.next(); !strings.Contains(data, `"groundingMetadata":{"alone":true}`) {
		t.Errorf("grounding alone is not passed on: %s", data)
	}
	k.whole()
	if q := up.Last(); !strings.Contains(q.Path, config.Default().AI.Model) || !strings.Contains(fmt.Sprint(q.Body["system_instruction"]), strings.Repeat("ä", 217_000)) {
		t.Errorf("the upstream request was %s", q.Path)
	}
	lin := c.attendee("Lin")
	lin.ask(record{"prompt": "why", "step_number": 1}).whole()
	if system := fmt.Sprint(up.Last().Body["system_instruction"]); !strings.Contains(system, `titled "one"`) {
		t.Errorf("the attendee's codelab was not found: %s", system)
	}
	lin.post("/ai/conversations", record{"question": "Q", "answer": "A", "model": "gemini-unheard-of"}).want(200)
	if got := c.admin.get(c.path + "/ai/conversations").list(); len(got) != 1 || got[0].text("model") != config.Default().AI.Model || got[0].text("user_id") != lin.id {
		t.Errorf("the saved conversations are %v", got)
	}
	other := newClassOn(t, c.addr, record{"title": "other"})
	lin.post(other.path+"/register", record{"name": "Lin"}).want(200)
	lin.post("/ai/stream", record{"prompt": "why"}).refused(400, "codelab_id")
	lin.post("/ai/conversations", record{"question": "Q", "answer": "A"}).refused(400, "codelab_id")
	lin.ask(record{"prompt": "why", "codelab_id": c.id}).whole()
}

func TestAIUsageIsCountedByCodelabAndModel(t *testing.T) {
	t.Parallel()
	c, _ := aiClass(t, nil)
	lin := c.attendee("Lin")
	lin.ask(record{"prompt": "why", "codelab_id": c.id}).whole()
	lin.ask(record{"prompt": "why", "codelab_id": c.id, "model": "other-model"}).whole()
	c.admin.ask(record{"prompt": "why"}).whole()
	c.eventually("three are counted", func() bool { return c.admin.get("/admin/ai/usage").object().number("queries") == 3 })
	got := c.admin.get("/admin/ai/usage").object()
	labs, models := got["codelabs"].([]any), got["models"].([]any)
	if first := record(labs[0].(map[string]any)); got.number("total_tokens") != 30 || len(labs) != 2 || first.text("codelab_id") != c.id || first.number("prompt_tokens") != 14 ||
		len(models) != 2 || labs[1].(map[string]any)["codelab_id"] != nil {
		t.Errorf("usage is %v", got)
	}
	c.admin.delete(c.path).want(204)
	if got := c.admin.get("/admin/ai/usage").object(); got.number("queries") != 1 {
		t.Errorf("after the codelab was deleted, usage is %v", got)
	}
}

func TestAnEndedGrantEndsTheAnswerInProgress(t *testing.T) {
	t.Parallel()
	c, up := aiClass(t, nil)
	for name, ends := range map[string]func(lin *person){
		"removed":    func(lin *person) { c.admin.delete(c.path + "/attendees/" + lin.id).want(204) },
		"PIN reset":  func(lin *person) { c.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", nil).want(200) },
		"logged out": func(lin *person) { lin.post("/logout", nil).want(204) },
	} {
		gone := make(chan struct{})
		up.Script(func(a *upstreamtest.Answer) {
			a.Text("first")
			<-a.Gone()
			close(gone)
		})
		lin := c.attendee(name)
		k := lin.ask(record{"prompt": "why", "codelab_id": c.id})
		k.text()
		ends(lin)
		if _, failed := k.whole(); !strings.Contains(failed, "no longer registered") {
			t.Errorf("%s: the stream ended with %q", name, failed)
		}
		<-gone
	}
}

func TestShutdownEndsAnswersInProgress(t *testing.T) {
	t.Parallel()
	up := upstreamtest.New(t)
	cfg := testConfig(t)
	cfg.AI.BaseURL = up.URL
	cfg.Server.DrainTimeout = config.Duration(400 * time.Millisecond)
	s := startUntilStopped(t, cfg)
	b := facilitator(t, s.Addr(), "")
	b.post("/admin/settings", record{"ai_api_key": encryptedKey(t)}).want(200)
	up.Script(func(a *upstreamtest.Answer) { a.Text("first"); <-a.Gone() })
	k := b.ask(record{"prompt": "why"})
	k.text()
	done := make(chan error, 1)
	go func() { done <- s.Stop() }()
	if _, failed := k.whole(); !strings.Contains(failed, "stopping") {
		t.Errorf("the stream ended with %q", failed)
	}
	if err := <-done; err != nil {
		t.Logf("stop: %v", err)
	}
}

func TestOldClientsGetAnAnswerWithoutChunks(t *testing.T) {
	t.Parallel()
	c, _ := aiClass(t, nil)
	token := c.admin.post("/admin/tokens", record{"name": "old"}).object().text("token")
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"prompt":"why"}`
	fmt.Fprintf(conn, "POST /api/ai/stream HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
	got, err := io.ReadAll(conn)
	if err != nil || bytes.Contains(got, []byte("chunked")) || !bytes.Contains(got, []byte("\r\n\r\ndata: {")) {
		t.Errorf("%v, the response is %s", err, got)
	}
}

func TestRefusedQuestionsAreInTheAuditTrail(t *testing.T) {
	t.Parallel()
	up := upstreamtest.New(t)
	cfg := testConfig(t)
	cfg.AI.BaseURL = up.URL
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin := newClassOn(t, s.Addr(), record{"title": "other"}).attendee("Lin")
	for range 3 {
		lin.post("/ai/stream", record{"prompt": "why", "codelab_id": c.id}).refused(403)
	}
	lin.get(c.code()).refused(403)
	lin.get(c.path + "/export/attendance.csv").refused(403)
	c.admin.http.CloseIdleConnections()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	b := facilitator(t, startServer(t, cfg).Addr(), "")
	// The server also writes the counts at the end of each minute, so there can be several records.
	denied, sum := b.get("/admin/audit-logs?action=access_denied&codelab_id="+c.id).list(), 0
	for _, r := range denied {
		n, _ := strconv.Atoi(fmt.Sprint(r["metadata"].(map[string]any)["count"]))
		if sum += n; r.text("actor_id") != lin.id {
			t.Errorf("the denial record is %v", r)
		}
	}
	if sum != 5 || len(denied) == 5 {
		t.Errorf("the denial records are %v", denied)
	}
}

func TestDeeplyNestedQuestionsDoNoHarm(t *testing.T) {
	t.Parallel()
	c, _ := aiClass(t, func(cfg *config.Config) { cfg.AI.MaxStreamsPerPerson = 1 })
	for _, depth := range []int{100, 3000, 9000, 1_000_000} {
		deep := strings.Repeat(`{"a":[`, depth) + strings.Repeat("]}", depth)
		for _, body := range []string{`{"prompt":"x","tools":` + deep + `}`, `{"prompt":"x","generation_config":` + deep + `}`, `{"contents":[{"parts":[` + deep + `]}]}`} {
			if got := c.admin.send(http.MethodPost, "/ai/stream", body); got.status != 200 && got.status != 400 && got.status != 413 {
				t.Errorf("depth %d: status %d %.200s", depth, got.status, got.body)
			}
		}
	}
}

func TestAnswersStreamOverTLSToo(t *testing.T) {
	t.Parallel()
	up := upstreamtest.New(t)
	cfg := testConfig(t)
	var roots *x509.CertPool
	cfg.Server.TLSCert, cfg.Server.TLSKey, roots = selfSigned(t, t.TempDir())
	cfg.AI.BaseURL = up.URL
	b := openWith(t, "https://"+startServer(t, cfg).Addr(), &tls.Config{RootCAs: roots})
	b.login("")
	b.post("/admin/settings", record{"ai_api_key": encryptedKey(t)}).want(200)
	gone := make(chan struct{})
	up.Script(func(a *upstreamtest.Answer) {
		a.Text("first")
		<-a.Gone()
		close(gone)
	})
	k := b.ask(record{"prompt": "why"})
	if got := k.text(); got != "first" {
		t.Errorf("the first text is %q, want \"first\"", got)
	}
	k.leave()
	select {
	case <-gone:
	case <-time.After(testTimeout):
		t.Error("the upstream request is still running")
	}
	up.Script(func(a *upstreamtest.Answer) { a.Refuse(500, "") })
	b.post("/ai/stream", record{"prompt": "why"}).refused(502)
}
