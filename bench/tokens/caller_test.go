//go:build linux

package tokens

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"atelier/bench/server"
)

func TestACallerRetriesOnlySafeRequests(t *testing.T) {
	lost := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	busy := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	var keys []string
	well := func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		w.Header().Set("Content-Length", "2")
		_, _ = w.Write([]byte("ok"))
	}
	for name, c := range map[string]struct {
		first  http.HandlerFunc // nil means that the node is gone
		key    string
		status int
		err    bool
		want   trip
	}{
		"a key, no response":  {lost, "a-key-of-22-characters", 200, false, trip{repeated: 1}},
		"a key, 503":          {busy, "a-key-of-22-characters", 200, false, trip{repeated: 1}},
		"no key, no response": {lost, "", 0, true, trip{failed: 1}},
		"no key, 503":         {busy, "", 503, false, trip{failed: 1}},
		"no key, not sent":    {nil, "", 200, false, trip{repeated: 1}},
		"no retry needed":     {well, "", 200, false, trip{}},
	} {
		keys = nil
		first, second := httptest.NewServer(c.first), httptest.NewServer(http.HandlerFunc(well))
		if c.first == nil {
			first.Close()
		}
		clients, err := server.Join([]server.Node{{URL: first.URL}, {URL: second.URL}}).Clients()
		if err != nil {
			t.Fatal(err)
		}
		caller := &caller{clients: clients}
		status, _, err := caller.post("x", "/x", "k", c.key, []byte("{}"))
		if status != c.status || (err != nil) != c.err || caller.trips["x"] != c.want {
			t.Errorf("%s: status %d, %v, %+v", name, status, err, caller.trips)
		}
		if len(keys) > 0 && keys[0] != c.key {
			t.Errorf("%s: the key is %q", name, keys[0])
		}
		caller.Close()
		clients.Close()
		first.Close()
		second.Close()
	}
}
