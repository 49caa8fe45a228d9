package acceptance

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"atelier/transport/rest"
)

// FuzzJSONCommands sends any bytes as the body of a write, except a write that could end the test's
// sessions or delete its codelab. Each response is documented and is not a server error.
func FuzzJSONCommands(f *testing.F) {
	var writes []rest.Operation
	for _, op := range offered() {
		if op.Method != http.MethodGet && op.Path != "/logout" && op.Path != "/login" && op.Method+op.Path != "DELETE/codelabs/{id}" && !strings.HasPrefix(op.Path, "/admin/tokens/") {
			writes = append(writes, op)
		}
	}
	for i := range writes {
		for _, body := range []string{"", "{}", "null", "[]", `{"message":"x","type":"chat"}`, `{"name":"\u0000"}`, "\xff"} {
			f.Add(uint8(i), i%2 == 0, body)
		}
	}
	deep := strings.Repeat("[", 20_000)
	f.Add(uint8(0), true, `{"x":`+deep+`}`)
	f.Add(uint8(1), true, strings.Repeat(`{"title":`, 20_000))
	f.Add(uint8(2), true, `{"steps":[{"title":"a","content_markdown":"b","id":null,"duration_minutes":1e9}]}`)
	f.Add(uint8(3), false, `{"type":"webrtc_signal","type":"chat","message":"\ud83d"}`)
	f.Add(uint8(4), false, `{"start_offset":-0,"end_offset":1E400}`)

	cfg := testConfig(f)
	cfg.Limits.WritesPerMinute, cfg.Limits.RegistrationBurst, cfg.Limits.PINFailures = 0, 0, 0
	c := newClassOn(f, startServer(f, cfg).Addr(), record{})
	lin := c.attendee("Lin")
	ids := strings.NewReplacer("{id}", c.id, "{attendee_id}", lin.id, "{thread_id}", unknownID, "{comment_id}", unknownID,
		"{help_id}", unknownID, "{message_id}", unknownID)
	f.Fuzz(func(t *testing.T, which uint8, asAdmin bool, body string) {
		op := writes[int(which)%len(writes)]
		if op.Method == http.MethodDelete && strings.HasSuffix(op.Path, "{attendee_id}") {
			return // this operation would remove the attendee that sends the requests
		}
		by := *lin.browser
		if asAdmin {
			by = *c.admin
		}
		by.t = t
		path := ids.Replace(op.Path)
		got := by.send(op.Method, path, body)
		if err := verifyAnswer(op.Method, path, got.status, got.header, got.body); err != nil {
			t.Errorf("the response to %q is not documented: %v", body, err)
		}
		if got.status >= 500 {
			t.Errorf("%s with %q: status %d", got.what, body, got.status)
		}
		if git := strings.HasPrefix(path, "/git/"); got.status >= 400 && !git { // Git gets text
			got.error()
		} else if got.status >= 400 && len(got.body) == 0 {
			t.Errorf("%s with %q: status %d has no error text", got.what, body, got.status)
		}
		if got.status == 200 && json.Valid([]byte(body)) {
			if err := verifyRequest(op.Method, path, []byte(body)); err != nil && body != "null" {
				t.Logf("the server accepts a body that the document does not describe: %v", err)
			}
		}
	})
}
