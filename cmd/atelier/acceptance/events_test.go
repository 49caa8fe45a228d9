package acceptance

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// stream is an open event stream.
type stream struct {
	t        testing.TB
	lines    *bufio.Scanner
	lastID   string
	received []message
	welcome  message
}

// follow opens the event stream of a codelab.
func (b *browser) follow(codelab, query string, opts ...option) (*stream, int) {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodGet, anyNode(b.base)+"/api/codelabs/"+codelab+"/events"+query, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.authenticate(req)
	for _, o := range opts {
		o(req)
	}
	client := *b.http
	client.Timeout = 0
	res, err := client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != 200 {
		return nil, res.StatusCode
	}
	if err := verifyAnswer(http.MethodGet, "/codelabs/"+codelab+"/events", 200, res.Header, nil); err != nil {
		b.t.Errorf("undocumented: %v", err)
	}
	s := &stream{t: b.t, lines: bufio.NewScanner(res.Body)}
	s.welcome = s.next("welcome")
	return s, 200
}

// next reads up to and including an event of a type.
func (s *stream) next(kind string) message {
	s.t.Helper()
	id, beat := "", false
	for s.lines.Scan() {
		field, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event": // only a "beat" has an event name, and it has no data
			beat = true
		case "data":
			if beat {
				beat = false
				continue
			}
			if err := verifyMessage([]byte(value)); err != nil {
				s.t.Errorf("undocumented: %v", err)
			}
			var m message
			if err := m.decode([]byte(value)); err != nil {
				s.t.Fatal(err)
			}
			// The id contains the client's position. Only stored messages, welcomes and resyncs
			// have an id, and it is exactly their position.
			placed := m["ts"] != nil
			if m.kind() == "welcome" || m.kind() == "resync" {
				placed = id == fmt.Sprintf("%v:%v", m["epoch"], m["seq"])
			}
			if (id != "") != placed {
				s.t.Errorf("the message with the id %q is %v", id, m)
			}
			if id != "" {
				s.lastID = id
			}
			id = ""
			s.received = append(s.received, m)
			if m.kind() == kind {
				return m
			}
		}
	}
	s.t.Fatalf("the stream ended before %s: %v", kind, s.lines.Err())
	return nil
}

func TestTheEventStreamCarriesTheSameMessages(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	events, status := lin.follow(c.id, "")
	if status != 200 {
		t.Fatalf("the event stream returned %d, want 200", status)
	}
	if you := events.welcome["you"].(map[string]any); you["id"] != lin.id {
		t.Errorf("the welcome is for %v", you)
	}
	socket := max.connect(c.id, "")
	socket.acked(record{"type": "chat", "message": "line one\nline two"}, "a")
	if m := events.next("chat"); m.text("message") != "line one\nline two" {
		t.Errorf("received %v", m)
	}
	lin.post(c.path+"/messages", record{"type": "dm", "target_id": max.id, "message": "psst"}).want(200)
	socket.next("dm")
	events.next("dm")
	max.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
	c.admin.put(c.path, record{"title": "end"}).want(200)
	events.next("codelab_changed")
	for _, m := range events.received {
		if m.kind() == "step_progress" {
			t.Errorf("an attendee received %v", m)
		}
	}
}

func TestTheEventStreamResumesAfterTheLastEventID(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	events, _ := lin.follow(c.id, "")
	post := func(text string) {
		t.Helper()
		max.post(c.path+"/messages", record{"type": "chat", "message": text}).want(200)
	}
	post("one")
	events.next("chat")
	id := events.lastID
	post("two")
	post("three")
	again, _ := lin.follow(c.id, "?epoch=wrong&since=0", header("Last-Event-ID", id))
	for _, want := range []string{"two", "three"} {
		if m := again.next("chat"); m.text("message") != want {
			t.Errorf("received %v, want %s", m, want)
		}
	}
	epoch, _, _ := strings.Cut(id, ":")
	byQuery, _ := lin.follow(c.id, resume(epoch, events.received[len(events.received)-1].seq()))
	if m := byQuery.next("chat"); m.text("message") != "two" {
		t.Errorf("received %v", m)
	}
	other, _ := lin.follow(c.id, "", header("Last-Event-ID", "other:1"))
	if m := other.next("resync"); m.text("reason") != "epoch" {
		t.Errorf("received %v", m)
	}
	// If the id has an epoch but no number, the server cannot determine which events were missed.
	// It must send a resync, because otherwise the client would not detect the gap.
	placeless, _ := lin.follow(c.id, "", header("Last-Event-ID", epoch+":"))
	if m := placeless.next("resync"); m.text("epoch") != epoch {
		t.Errorf("received %v", m)
	}
	for _, bad := range []string{"x", "epoch:x", epoch + ":-1"} {
		if _, status := lin.follow(c.id, "", header("Last-Event-ID", bad)); status != 400 {
			t.Errorf("Last-Event-ID %q returned %d, want 400", bad, status)
		}
	}
	if _, status := lin.follow(c.id, "?as=admin"); status != 403 {
		t.Errorf("as=admin returned %d, want 403", status)
	}
	if _, status := open(t, c.addr).follow(c.id, ""); status != 401 {
		t.Errorf("without a session, the stream returned %d, want 401", status)
	}
}
