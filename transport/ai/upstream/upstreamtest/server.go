// Package upstreamtest simulates a language model for tests. It is a real HTTP server that speaks
// the protocols of package upstream, and violates them on request.
package upstreamtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Server answers every question with the current script.
type Server struct {
	URL string

	mu     sync.Mutex // guards the following fields
	script func(*Answer)
	asked  []Question
}

// Question is a question that the server received.
type Question struct {
	Path   string
	Header http.Header
	Text   string
	Body   map[string]any
}

// New starts a server that is closed at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	s.Script(func(a *Answer) { a.Whole("Hello", " world") })
	return s
}

// Script sets the script for all later answers.
func (s *Server) Script(script func(*Answer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Asked returns the questions so far.
func (s *Server) Asked() []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Question(nil), s.asked...)
}

// Last returns the newest question, or the zero Question if there is none.
func (s *Server) Last() Question {
	all := s.Asked()
	if len(all) == 0 {
		return Question{}
	}
	return all[len(all)-1]
}

// ServeHTTP answers a question with the script.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	q := Question{Path: r.URL.String(), Header: r.Header.Clone(), Text: string(text)}
	_ = json.Unmarshal(text, &q.Body)
	s.mu.Lock()
	s.asked = append(s.asked, q)
	script := s.script
	s.mu.Unlock()
	script(&Answer{w: w, r: r, gemini: strings.HasSuffix(r.URL.Path, ":streamGenerateContent")})
}

// Answer is one answer being written.
type Answer struct {
	w      http.ResponseWriter
	r      *http.Request
	gemini bool
	begun  bool
}

// Gone returns a channel that is closed when the client has disconnected.
func (a *Answer) Gone() <-chan struct{} { return a.r.Context().Done() }

// Refuse answers with a status. headers are alternating names and values.
func (a *Answer) Refuse(status int, body string, headers ...string) {
	for i := 0; i < len(headers); i += 2 {
		a.w.Header().Set(headers[i], headers[i+1])
	}
	a.w.WriteHeader(status)
	_, _ = io.WriteString(a.w, body)
}

// Raw writes bytes of an event stream unchanged and flushes them.
func (a *Answer) Raw(text string) {
	if !a.begun {
		a.begun = true
		a.w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = io.WriteString(a.w, text)
	_ = http.NewResponseController(a.w).Flush()
}

// Event writes an event.
func (a *Answer) Event(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	a.Raw(fmt.Sprintf("data: %s\r\n\r\n", b))
}

type m = map[string]any

// Text writes a piece of text.
func (a *Answer) Text(text string) {
	if a.gemini {
		a.Event(m{"candidates": []any{m{"content": m{"role": "model", "parts": []any{m{"text": text}}}}}})
		return
	}
	a.Event(m{"choices": []any{m{"index": 0, "delta": m{"content": text}}}})
}

// End writes the end of a complete answer, with its token counts.
func (a *Answer) End(prompt, output int) {
	if a.gemini {
		a.Event(m{
			"candidates":    []any{m{"content": m{"parts": []any{m{"text": ""}}}, "finishReason": "STOP"}},
			"usageMetadata": m{"promptTokenCount": prompt, "candidatesTokenCount": output, "totalTokenCount": prompt + output},
		})
		return
	}
	a.Event(m{"choices": []any{m{"index": 0, "delta": m{}, "finish_reason": "stop"}}})
	a.Event(m{"choices": []any{}, "usage": m{"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}})
	a.Raw("data: [DONE]\n\n")
}

// Whole writes a complete answer with 7 prompt tokens and 3 output tokens.
func (a *Answer) Whole(pieces ...string) {
	for _, p := range pieces {
		a.Text(p)
	}
	a.End(7, 3)
}

// Cut closes the connection in the middle of the answer.
func (a *Answer) Cut() {
	c, _, err := http.NewResponseController(a.w).Hijack()
	if err == nil {
		_ = c.Close()
	}
}
