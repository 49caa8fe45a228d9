package upstream_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/transport/ai/keys"
	"atelier/transport/ai/upstream"
	"atelier/transport/ai/upstream/upstreamtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "canary-key-1234"

// opened decrypts the key only once, because its derivation is slow.
var opened = sync.OnceValues(func() (keys.Key, error) {
	text, err := keys.Encrypt("pw", secret, strings.NewReader(strings.Repeat("x", 32)))
	if err != nil {
		return keys.Key{}, err
	}
	r, err := keys.NewRing("pw", "k", time.Now)
	if err != nil {
		return keys.Key{}, err
	}
	return r.Open("t", text)
})

func key(t testing.TB) keys.Key {
	t.Helper()
	k, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func client(t testing.TB, provider, url string, change func(*upstream.Options)) *upstream.Client {
	t.Helper()
	o := upstream.Options{
		Provider: provider, BaseURL: url, Connect: 5 * time.Second, FirstByte: 20 * time.Second, Idle: 20 * time.Second, Total: time.Minute, MaxConnections: 10,
	}
	if change != nil {
		change(&o)
	}
	c, err := upstream.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func question() *upstream.Query {
	return &upstream.Query{
		Model: "m/1", System: "be brief", Config: map[string]any{"temperature": 0.5, "maxOutputTokens": 100.0, "topP": 0.9, "stopSequences": []any{"END"}},
		Contents: []upstream.Content{
			{Role: "user", Parts: []map[string]any{{"text": "one"}, {"text": "two"}}},
			{Role: "model", Parts: []map[string]any{{"text": "three"}}},
			{Role: "user", Parts: []map[string]any{{"text": "four"}}},
		},
	}
}

// ask returns the text of an answer and its usage.
func ask(t testing.TB, c *upstream.Client) (string, upstream.Usage, error) {
	t.Helper()
	var text strings.Builder
	var usage upstream.Usage
	err := c.Ask(context.Background(), key(t), question(), func(c upstream.Chunk) error {
		for _, p := range c.Parts {
			text.WriteString(*p.Text)
		}
		if c.Usage != nil {
			usage = *c.Usage
		}
		return nil
	})
	return text.String(), usage, err
}

var providers = []string{upstream.Gemini, upstream.OpenAI}

func TestRequestsUseBothProtocols(t *testing.T) {
	up := upstreamtest.New(t)
	for _, p := range providers {
		text, usage, err := ask(t, client(t, p, up.URL+"/v1/", nil))
		if err != nil || text != "Hello world" || usage != (upstream.Usage{Prompt: 7, Output: 3, Total: 10}) {
			t.Errorf("protocol %s: the response is %q, %v, %v", p, text, usage, err)
		}
	}
	asked := up.Asked()
	g, o := asked[0], asked[1]
	if g.Path != "/v1/models/m%2F1:streamGenerateContent?alt=sse" || g.Header.Get("X-Goog-Api-Key") != secret || g.Header.Get("Authorization") != "" {
		t.Errorf("the request to gemini went to %s with %v", g.Path, g.Header)
	}
	want := `{"contents":[{"role":"user","parts":[{"text":"one"},{"text":"two"}]},{"role":"model","parts":[{"text":"three"}]},{"role":"user","parts":[{"text":"four"}]}],"system_instruction":{"parts":[{"text":"be brief"}]},"generationConfig":`
	if !strings.HasPrefix(g.Text, want) || fmt.Sprint(g.Body["generationConfig"]) != "map[maxOutputTokens:100 stopSequences:[END] temperature:0.5 topP:0.9]" {
		t.Errorf("the request to gemini is %s", g.Text)
	}
	if o.Path != "/v1/chat/completions" || o.Header.Get("Authorization") != "Bearer "+secret || o.Header.Get("X-Goog-Api-Key") != "" {
		t.Errorf("the request to openai went to %s with %v", o.Path, o.Header)
	}
	if got := fmt.Sprint(o.Body["messages"]); got != "[map[content:be brief role:system] map[content:onetwo role:user] map[content:three role:assistant] map[content:four role:user]]" {
		t.Errorf("the messages to openai are %s", got)
	}
	for field, want := range map[string]any{"model": "m/1", "stream": true, "temperature": 0.5, "max_tokens": 100.0, "top_p": 0.9, "stop": []any{"END"}} {
		if fmt.Sprint(o.Body[field]) != fmt.Sprint(want) {
			t.Errorf("the field %s to openai is %v", field, o.Body[field])
		}
	}
	for _, q := range asked {
		if strings.Contains(q.Path+q.Text, secret) {
			t.Errorf("the key is outside of its header: %s %s", q.Path, q.Text)
		}
	}
}

func TestFailuresOfUpstreams(t *testing.T) {
	big := strings.Repeat("x", 2<<20)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	type m = map[string]any
	for name, c := range map[string]struct {
		status int
		cause  string
		retry  time.Duration
		script func(a *upstreamtest.Answer)
	}{
		"401":                       {502, upstream.CauseKey, 0, func(a *upstreamtest.Answer) { a.Refuse(401, `{"error":"bad key `+secret+`"}`) }},
		"403":                       {502, upstream.CauseKey, 0, func(a *upstreamtest.Answer) { a.Refuse(403, "") }},
		"400":                       {502, upstream.CauseRequest, 0, func(a *upstreamtest.Answer) { a.Refuse(400, "") }},
		"400 with content_filter":   {502, upstream.CauseRequest, 0, func(a *upstreamtest.Answer) { a.Refuse(400, `{"error":{"code":400,"message":"content_filter"}}`) }},
		"429 with seconds":          {503, upstream.CauseBusy, 17 * time.Second, func(a *upstreamtest.Answer) { a.Refuse(429, "", "Retry-After", "17") }},
		"429 with invalid seconds":  {503, upstream.CauseBusy, 5 * time.Second, func(a *upstreamtest.Answer) { a.Refuse(429, "", "Retry-After", "soon") }},
		"429 with too many seconds": {503, upstream.CauseBusy, time.Hour, func(a *upstreamtest.Answer) { a.Refuse(429, "", "Retry-After", "999999") }},
		"429 with negative seconds": {503, upstream.CauseBusy, time.Second, func(a *upstreamtest.Answer) { a.Refuse(429, "", "Retry-After", "-5") }},
		"503":                       {503, upstream.CauseBusy, 5 * time.Second, func(a *upstreamtest.Answer) { a.Refuse(503, "") }},
		"500":                       {502, upstream.CauseError, 0, func(a *upstreamtest.Answer) { a.Refuse(500, "") }},
		"504":                       {504, upstream.CauseTimeout, 0, func(a *upstreamtest.Answer) { a.Refuse(504, "") }},
		"redirect":                  {502, upstream.CauseError, 0, func(a *upstreamtest.Answer) { a.Refuse(307, "", "Location", elsewhere.URL) }},
		"another media type":        {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Refuse(200, "<html>", "Content-Type", "text/html") }},
		"an empty answer":           {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Raw("") }},
		"only comments":             {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Raw(": hi\n\n: ho\n\n") }},
		"cut off in an event":       {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Text("a"); a.Raw(`data: {"cand`); a.Cut() }},
		"cut off between events":    {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Text("a"); a.Cut() }},
		"invalid JSON":              {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Raw("data: rubbish\n\n") }},
		"not UTF-8":                 {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Raw("data: {\"x\":\"\xff\"}\n\n") }},
		"wrong types":               {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Event(m{"candidates": 1, "choices": 1}) }},
		"deeply nested":             {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Raw("data: " + strings.Repeat("[", 500_000) + "\n\n") }},
		"huge line":                 {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Raw("data: " + big + "\n\n") }},
		"endless line":              {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) { a.Raw(big) }},
		"huge event": {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) {
			for range 40 {
				a.Raw("data: " + big[:64<<10] + "\n")
			}
		}},
		"endless comments": {502, upstream.CauseBroken, 0, func(a *upstreamtest.Answer) {
			for range 40 {
				a.Raw(":" + big[:1<<19] + "\n")
			}
		}},
		"an error after text": {502, upstream.CauseError, 0, func(a *upstreamtest.Answer) { a.Text("a"); a.Event(m{"error": m{"message": secret}}) }},
	} {
		t.Run(name, func(t *testing.T) {
			up := upstreamtest.New(t)
			up.Script(c.script)
			for _, p := range providers {
				_, _, err := ask(t, client(t, p, up.URL, nil))
				var f *upstream.Failure
				if !errors.As(err, &f) || f.Status != c.status || f.Cause != c.cause || f.Retry != c.retry {
					t.Errorf("protocol %s: the failure is %+v", p, err)
				} else if strings.Contains(fmt.Sprintf("%+v", f), secret) {
					t.Errorf("%s: the failure contains the key", p)
				}
			}
		})
	}
}

// Not every server with Gemini's protocol sends a reason when an answer ends. Servers with OpenAI's
// protocol always send a reason or [DONE], so an answer without either of them was cut off.
func TestAnswersThatEndWithoutAReason(t *testing.T) {
	for _, tc := range []struct {
		provider, end string
		whole         bool
	}{
		{upstream.Gemini, "", true},
		{upstream.Gemini, "data: [DONE]\n\n", true},
		{upstream.Gemini, "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\ndata: [DONE]\n\n", true},
		{upstream.OpenAI, "", false},
		{upstream.OpenAI, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n", false},
		{upstream.OpenAI, "data: [DONE]\n\n", true},
		{upstream.OpenAI, "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n", true},
	} {
		up := upstreamtest.New(t)
		up.Script(func(a *upstreamtest.Answer) { a.Text("a"); a.Raw(tc.end) })
		text, _, err := ask(t, client(t, tc.provider, up.URL, nil))
		var f *upstream.Failure
		if tc.whole && err != nil || !tc.whole && (!errors.As(err, &f) || f.Cause != upstream.CauseBroken) || text != "a" {
			t.Errorf("%s, end %q: text %q, %v", tc.provider, tc.end, text, err)
		}
	}
}

// The cases are all the ways in which an upstream reports a safety block.
func TestAllSafetyBlocksAreReported(t *testing.T) {
	type m = map[string]any
	choice := func(delta m, reason any) m {
		return m{"choices": []any{m{"index": 0, "delta": delta, "finish_reason": reason}}}
	}
	candidate := func(reason string, parts ...any) m {
		return m{"candidates": []any{m{"content": m{"parts": parts}, "finishReason": reason}}}
	}
	for name, tc := range map[string]struct {
		provider, text, finish string
		script                 func(a *upstreamtest.Answer)
	}{
		"a blocked question, Gemini": {upstream.Gemini, "", "SAFETY", func(a *upstreamtest.Answer) { a.Event(m{"promptFeedback": m{"blockReason": "PROHIBITED_CONTENT"}}) }},
		"a blocked answer, Gemini":   {upstream.Gemini, "a", "SAFETY", func(a *upstreamtest.Answer) { a.Text("a"); a.Event(candidate("SAFETY")) }},
		"a recitation, Gemini":       {upstream.Gemini, "a", "RECITATION", func(a *upstreamtest.Answer) { a.Text("a"); a.Event(candidate("RECITATION")) }},
		"a blocked question, OpenAI": {upstream.OpenAI, "", "SAFETY", func(a *upstreamtest.Answer) { a.Event(choice(m{}, "content_filter")) }},
		"a blocked answer, OpenAI": {upstream.OpenAI, "a", "SAFETY", func(a *upstreamtest.Answer) {
			a.Text("a")
			a.Event(choice(m{}, "content_filter"))
			a.Raw("data: [DONE]\n\n")
		}},
		"a refusal with text": {upstream.OpenAI, "I cannot.", "SAFETY", func(a *upstreamtest.Answer) {
			a.Event(choice(m{"refusal": "I can"}, nil))
			a.Event(choice(m{"refusal": "not."}, nil))
			a.Event(choice(m{}, "stop"))
			a.Raw("data: [DONE]\n\n")
		}},
		"a refusal without a reason": {upstream.OpenAI, "No.", "SAFETY", func(a *upstreamtest.Answer) { a.Event(choice(m{"refusal": "No."}, nil)); a.Raw("data: [DONE]\n\n") }},
		"a filter before the model": {upstream.OpenAI, "", "SAFETY", func(a *upstreamtest.Answer) {
			a.Refuse(400, `{"error": {"code": "content_filter", "message": "filtered"}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			up := upstreamtest.New(t)
			up.Script(tc.script)
			text, finish := "", ""
			err := client(t, tc.provider, up.URL, nil).Ask(context.Background(), key(t), question(), func(c upstream.Chunk) error {
				for _, p := range c.Parts {
					text += *p.Text
				}
				finish += c.Finish
				return nil
			})
			if err != nil || text != tc.text || finish != tc.finish || !upstream.Blocked(finish) {
				t.Errorf("text %q, finish %q, %v", text, finish, err)
			}
		})
	}
	if upstream.Blocked("STOP") || upstream.Blocked("MAX_TOKENS") || upstream.Blocked("OTHER") {
		t.Error("a finish that is not a block counts as blocked")
	}
}

func TestEveryWaitHasATimeout(t *testing.T) {
	up := upstreamtest.New(t)
	silent := func(a *upstreamtest.Answer) { <-a.Gone() }
	short := 50 * time.Millisecond
	for name, c := range map[string]struct {
		change func(*upstream.Options)
		script func(*upstreamtest.Answer)
	}{
		"no first byte":         {func(o *upstream.Options) { o.FirstByte = short }, silent},
		"headers only":          {func(o *upstream.Options) { o.FirstByte = short }, func(a *upstreamtest.Answer) { a.Raw(""); silent(a) }},
		"a pause in the answer": {func(o *upstream.Options) { o.Idle = short }, func(a *upstreamtest.Answer) { a.Text("a"); silent(a) }},
		"an answer that takes too long": {func(o *upstream.Options) { o.Total = 10 * short }, func(a *upstreamtest.Answer) {
			for {
				select {
				case <-a.Gone():
					return
				case <-time.After(time.Millisecond):
					a.Text("a")
				}
			}
		}},
	} {
		up.Script(c.script)
		for _, p := range providers {
			_, _, err := ask(t, client(t, p, up.URL, c.change))
			var f *upstream.Failure
			if !errors.As(err, &f) || f.Status != 504 {
				t.Errorf("%s, %s: %v, want status 504", p, name, err)
			}
		}
	}
	const unused = "http://127.0.0.1:1" // port 1 has no listener, and the kernel assigns it to nobody
	var f *upstream.Failure
	if _, _, err := ask(t, client(t, upstream.Gemini, unused, nil)); !errors.As(err, &f) || f.Status != 502 || f.Cause != upstream.CauseConnect {
		t.Errorf("without a listener: %v", err)
	}
}

func TestAReceiversErrorEndsTheCall(t *testing.T) {
	up := upstreamtest.New(t)
	gone := make(chan struct{})
	up.Script(func(a *upstreamtest.Answer) {
		a.Text("a")
		<-a.Gone()
		close(gone)
	})
	stop := errors.New("enough")
	err := client(t, upstream.Gemini, up.URL, nil).Ask(context.Background(), key(t), question(), func(upstream.Chunk) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("Ask returned %v", err)
	}
	<-gone
}

func TestToolsAreSentOnlyToGemini(t *testing.T) {
	up := upstreamtest.New(t)
	q := question()
	q.Tools = []any{map[string]any{"google_search": map[string]any{}}}
	if err := client(t, upstream.OpenAI, up.URL, nil).Check(q); err == nil {
		t.Error("openai accepts tools")
	}
	up.Script(func(a *upstreamtest.Answer) {
		a.Event(map[string]any{"candidates": []any{map[string]any{
			"content": map[string]any{"parts": []any{map[string]any{"functionCall": map[string]any{"name": "f"}}}}, "finishReason": "STOP",
		}}})
	})
	var call any
	err := client(t, upstream.Gemini, up.URL, nil).Ask(context.Background(), key(t), q, func(c upstream.Chunk) error {
		call = c.Parts[0].FunctionCall
		return nil
	})
	if err != nil || fmt.Sprint(call) != "map[name:f]" || fmt.Sprint(up.Last().Body["tools"]) != "[map[google_search:map[]]]" {
		t.Errorf("the call is %v, the sent tools are %v, %v", call, up.Last().Body["tools"], err)
	}
	q.Contents[0].Parts = []map[string]any{{"inlineData": map[string]any{"data": base64.StdEncoding.EncodeToString([]byte("x"))}}}
	q.Tools = nil
	if err := client(t, upstream.OpenAI, up.URL, nil).Check(q); err == nil {
		t.Error("openai accepts parts other than text")
	}
	q.Config = map[string]any{"maxOutputTokens": "many"}
	if err := client(t, upstream.Gemini, up.URL, nil).Check(q); err == nil {
		t.Error("a parameter of the wrong type is accepted")
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"finishReason\":\"STOP\"}]}\n\n")
	f.Add("data: [DONE]\n\n")
	f.Add("data:{\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\r\n\r\n")
	f.Add("event: x\ndata\n\n\n: c\n\ndata: 1\ndata: 2\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		for _, p := range providers {
			o := upstream.Options{Provider: p, BaseURL: "http://up.test", Connect: time.Second, FirstByte: time.Minute, Idle: time.Minute, Total: time.Minute}
			c, err := upstream.New(o)
			if err != nil {
				t.Fatal(err)
			}
			c.Replay(stream)
			n := 0
			err = c.Ask(context.Background(), keys.Key{}, &upstream.Query{Model: "m"}, func(upstream.Chunk) error { n++; return nil })
			var failed *upstream.Failure
			if err != nil && !errors.As(err, &failed) || err == nil && n == 0 && !strings.Contains(stream, "[DONE]") {
				t.Errorf("%s: %q makes %d chunks and the error %v", p, stream, n, err)
			}
		}
	})
}
