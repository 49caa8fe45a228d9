package acceptance

import (
	"net/http"
	"testing"
)

// The test clients are useful only if they detect undocumented responses.
func TestTheTestClientsDetectUndocumentedResponses(t *testing.T) {
	t.Parallel()
	good := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {unknownID}}
	with := func(name, value string) http.Header {
		h := good.Clone()
		h.Set(name, value)
		return h
	}
	without := func(name string) http.Header {
		h := good.Clone()
		h.Del(name)
		return h
	}
	const session = `{"sub":"admin","role":"admin","codelab_id":null,"exp":1}`
	if err := verifyAnswer("GET", "/session", 200, good, []byte(session)); err != nil {
		t.Errorf("a documented response is rejected: %v", err)
	}
	for what, bad := range map[string]struct {
		path   string
		status int
		header http.Header
		body   string
	}{
		"unknown field":      {"/session", 200, good, `{"sub":"admin","role":"admin","codelab_id":null,"exp":1,"more":1}`},
		"missing field":      {"/session", 200, good, `{"sub":"admin","role":"admin","exp":1}`},
		"wrong type":         {"/session", 200, good, `{"sub":"admin","role":"admin","codelab_id":null,"exp":"1"}`},
		"unknown role":       {"/session", 200, good, `{"sub":"admin","role":"root","codelab_id":null,"exp":1}`},
		"id of a wrong kind": {"/session", 200, good, `{"sub":"admin","role":"attendee","codelab_id":"7","exp":1}`},
		"invalid JSON":       {"/session", 200, good, `{`},
		"media type":         {"/session", 200, with("Content-Type", "text/plain"), session},
		"no request id":      {"/session", 200, without("X-Request-Id"), session},
		"unknown header":     {"/session", 200, with("X-Codelab-Seq", "1"), session},
		"unknown status":     {"/session", 418, good, `{"error":"x"}`},
		"two error fields":   {"/session", 401, good, `{"error":"x","code":1}`},
		"no Retry-After":     {"/session", 429, good, `{"error":"x"}`},
		"unknown operation":  {"/nothing", 200, good, session},
		"wrong timestamp":    {"/admin/tokens", 200, good, `[{"id":"` + unknownID + `","name":"x","created_at":"2026-01-01T00:00:00Z"}]`},
	} {
		if verifyAnswer("GET", bad.path, bad.status, bad.header, []byte(bad.body)) == nil {
			t.Errorf("%s was not detected", what)
		}
	}
	for _, text := range []string{
		`{"type":"nothing"}`, `{"type":"ack","ref":"r"}`, `{"type":"ack","ref":"r","seq":1,"more":1}`, `{"type":"steps_changed","seq":0,"ts":"2026-01-01T00:00:00.000Z"}`,
		`{"type":"resync","epoch":"e","seq":1,"reason":"because"}`,
	} {
		if verifyMessage([]byte(text)) == nil {
			t.Errorf("%s was not detected", text)
		}
	}
}
