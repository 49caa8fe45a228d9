//go:build linux

package workshop

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/fasthttp/websocket"
)

// fake is a minimal workshop server. It has one codelab and one lock, and all of its state is in
// one file. It can be made to misbehave, so that tests can verify what the load test detects.
type fake struct {
	// harm returns how many times to send an event to a connection: 0, 1 or 2. The value 3 sends
	// the event twice, even to people who must not receive it. If harm is nil, each event is sent
	// once. Immutable.
	harm func(seq uint64, kind string, attendee int) int
	// forget reports whether to acknowledge a chat message without storing it.
	forget func(seq uint64) bool
	// file contains the state; "" for none. Immutable.
	file string

	mu    sync.Mutex
	state fakeState
	conns map[*fakeConn]bool
}

type fakeState struct {
	Seq       uint64
	Events    []fakeEvent
	Attendees []map[string]any
	Chat      []map[string]any
	Threads   []map[string]any
	Help      []map[string]any
	Acks      map[string]uint64 // by person and ref
}

type fakeEvent struct {
	Seq          uint64
	Kind         string
	Facilitators bool
	Owner        string // the attendee who also receives the event
	Payload      json.RawMessage
}

type fakeConn struct {
	ws *websocket.Conn
	id string // "" for facilitators
}

func newFake(file string) *fake {
	f := &fake{file: file, conns: map[*fakeConn]bool{}, state: fakeState{Acks: map[string]uint64{}}}
	if b, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(b, &f.state); err != nil {
			panic(err)
		}
	}
	return f
}

func (f *fake) handler() http.Handler {
	mux := http.NewServeMux()
	locked := func(pattern string, serve func(who string, r *http.Request, in map[string]any) any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			var in map[string]any
			_ = json.NewDecoder(r.Body).Decode(&in)
			f.mu.Lock()
			defer f.mu.Unlock()
			out := serve(caller(r), r, in)
			if cookie, ok := out.(cookie); ok {
				http.SetCookie(w, &http.Cookie{Name: "svc_session", Value: cookie.who})
				http.SetCookie(w, &http.Cookie{Name: "svc_csrf", Value: "csrf"})
				out = cookie.body
			} else if r.Method != http.MethodGet && r.Header.Get("X-CSRF-Token") != "csrf" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_ = json.NewEncoder(w).Encode(out)
		})
	}
	record := map[string]any{"id": "lab", "title": "Lab"}
	locked("POST /api/login", func(string, *http.Request, map[string]any) any { return cookie{"admin", record} })
	locked("POST /api/codelabs", func(string, *http.Request, map[string]any) any { return record })
	locked("PUT /api/codelabs/lab/steps", func(string, *http.Request, map[string]any) any { return record })
	locked("GET /api/codelabs/lab", func(string, *http.Request, map[string]any) any {
		var steps []map[string]any
		for i := range 3 {
			steps = append(steps, map[string]any{"id": fmt.Sprint("step", i), "step_number": i + 1, "content_markdown": "text"})
		}
		return []any{record, steps}
	})
	locked("POST /api/codelabs/lab/register", f.register)
	locked("GET /api/codelabs/lab/attendees", func(string, *http.Request, map[string]any) any { return f.state.Attendees })
	locked("GET /api/codelabs/lab/overview", func(string, *http.Request, map[string]any) any { return record })
	locked("GET /api/codelabs/lab/chat", func(_ string, r *http.Request, _ map[string]any) any {
		if r.URL.Query().Get("before") != "" {
			return []any{}
		}
		return append([]map[string]any{}, f.state.Chat...)
	})
	locked("GET /api/codelabs/lab/inline-comments", func(string, *http.Request, map[string]any) any { return f.state.Threads })
	locked("POST /api/codelabs/lab/inline-comments", f.annotate)
	locked("GET /api/codelabs/lab/help", func(string, *http.Request, map[string]any) any {
		open := []map[string]any{}
		for _, h := range f.state.Help {
			if h["status"] != "help_resolved" {
				open = append(open, h)
			}
		}
		return open
	})
	locked("POST /api/codelabs/lab/help", func(who string, _ *http.Request, in map[string]any) any {
		h := map[string]any{"id": fmt.Sprint("help", len(f.state.Help)), "attendee_id": who, "status": "help_request", "step_number": in["step_number"]}
		f.state.Help = append(f.state.Help, h)
		f.commit("help_request", true, who, h)
		return h
	})
	locked("POST /api/codelabs/lab/help/{id}/{act}", func(_ string, r *http.Request, _ map[string]any) any {
		h := f.state.Help[numberOf(r.PathValue("id"))]
		h["status"] = map[string]string{"claim": "help_claimed", "resolve": "help_resolved"}[r.PathValue("act")]
		f.commit(h["status"].(string), true, h["attendee_id"].(string), h)
		return h
	})
	mux.HandleFunc("GET /api/ws/lab", f.socket)
	return mux
}

// cookie is a response that creates a session.
type cookie struct {
	who  string
	body any
}

func caller(r *http.Request) string {
	c, err := r.Cookie("svc_session")
	if err != nil {
		return ""
	}
	return c.Value
}

// numberOf returns the number at the end of one of the fake's ids.
func numberOf(id string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(id, "abcdefghijklmnopqrstuvwxyz"))
	return n
}

func (f *fake) register(_ string, _ *http.Request, in map[string]any) any {
	for _, a := range f.state.Attendees {
		if a["name"] == in["name"] {
			return cookie{a["id"].(string), a}
		}
	}
	a := map[string]any{"id": fmt.Sprint("a", len(f.state.Attendees)), "name": in["name"], "current_step": 1, "furthest_step": 1}
	f.state.Attendees = append(f.state.Attendees, a)
	f.save()
	return cookie{a["id"].(string), a}
}

func (f *fake) annotate(_ string, _ *http.Request, in map[string]any) any {
	comment := map[string]any{"message": in["message"]}
	for _, thread := range f.state.Threads {
		if thread["anchor_key"] == in["anchor_key"] {
			thread["messages"] = append(messages(thread), comment)
			f.commit("inline_comment_changed", false, "", map[string]any{"thread_id": thread["id"]})
			return thread
		}
	}
	thread := map[string]any{"id": fmt.Sprint("thread", len(f.state.Threads)), "anchor_key": in["anchor_key"], "messages": []any{comment}}
	f.state.Threads = append(f.state.Threads, thread)
	f.commit("inline_comment_changed", false, "", map[string]any{"thread_id": thread["id"]})
	return thread
}

func messages(thread map[string]any) []any { return thread["messages"].([]any) }

// save stores the state before anything is acknowledged.
func (f *fake) save() {
	if f.file == "" {
		return
	}
	b, err := json.Marshal(&f.state)
	if err == nil {
		err = os.WriteFile(f.file+".new", b, 0o600)
	}
	if err == nil {
		err = os.Rename(f.file+".new", f.file)
	}
	if err != nil {
		panic(err)
	}
}

// commit stores an event and sends it to its audience.
func (f *fake) commit(kind string, facilitator bool, owner string, fields map[string]any) uint64 {
	f.state.Seq++
	out := map[string]any{"type": kind, "seq": f.state.Seq}
	for k, v := range fields {
		out[k] = v
	}
	payload, _ := json.Marshal(out)
	e := fakeEvent{f.state.Seq, kind, facilitator, owner, payload}
	f.state.Events = append(f.state.Events, e)
	f.save()
	for c := range f.conns {
		f.deliver(c, e)
	}
	return e.Seq
}

func (f *fake) deliver(c *fakeConn, e fakeEvent) {
	times := 1
	if f.harm != nil {
		attendee := -1
		if c.id != "" {
			attendee = numberOf(c.id)
		}
		times = f.harm(e.Seq, e.Kind, attendee)
		if e.Facilitators && times < 3 && c.id != "" && c.id != e.Owner {
			return
		}
	} else if e.Facilitators && c.id != "" && c.id != e.Owner {
		return
	}
	for range min(times, 2) {
		_ = c.ws.WriteMessage(websocket.TextMessage, e.Payload)
	}
}
