package acceptance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTheInternalListenerServesProbesMetricsAndProfiles(t *testing.T) {
	t.Parallel()
	s := common.get(t)
	if status, _ := internal(s.InternalAddr(), "/livez"); status != 200 {
		t.Errorf("livez returned %d, want 200", status)
	}
	status, body := internal(s.InternalAddr(), "/readyz")
	var health struct {
		Ready, ReadOnly bool
		Quarantined     []string
	}
	if err := json.Unmarshal([]byte(body), &health); err != nil || status != 200 || !health.Ready || health.Quarantined == nil {
		t.Errorf("readyz returned %d %s", status, body)
	}
	if status, body := internal(s.InternalAddr(), "/debug/pprof/goroutine?debug=1"); status != 200 || !strings.Contains(body, "goroutine profile") {
		t.Errorf("pprof returned %d", status)
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/debug/pprof/"} {
		if got := public(t, s.Addr(), http.MethodGet, path); got.status != 404 {
			t.Errorf("%s is public: %d", path, got.status)
		}
	}
}

// public requests a path as written, even outside of /api.
func public(t *testing.T, addr, method, path string) answer {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return exchange(t, req)
}

func TestEveryResponseHasARequestID(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	var ids []string
	for _, try := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/", 200}, {"GET", "/nowhere", 404}, {"POST", "/", 405}, {"GET", "/api", 404}, {"GET", "/api/", 404}, {"GET", "/api/nowhere", 404},
		{"PATCH", "/api/codelabs", 405}, {"OPTIONS", "/api/codelabs", 405}, {"GET", "/api/codelabs/", 404}, {"GET", "/api//codelabs", 404},
		{"GET", "/api/codelabs", 200}, {"GET", "/api/session", 401}, {"GET", "/api/" + strings.Repeat("x", 20_000), 431},
	} {
		got := public(t, addr, try.method, try.path)
		id := got.header.Get("X-Request-Id")
		if got.status != try.status || id == "" || slices.Contains(ids, id) {
			t.Errorf("%s %.40s: %d with id %q, want %d", try.method, try.path, got.status, id, try.status)
		}
		ids = append(ids, id)
		// For an unknown page, the response is a text for people instead of JSON.
		if got.status >= 400 && try.path != "/nowhere" {
			got.error()
		}
	}
}

func TestAMethodThatIsNotAllowedGetsTheAllowedMethods(t *testing.T) {
	t.Parallel()
	got := public(t, common.get(t).Addr(), http.MethodPatch, "/api/codelabs")
	if allow := got.header.Get("Allow"); got.status != 405 || !strings.Contains(allow, "GET") || !strings.Contains(allow, "POST") {
		t.Errorf("PATCH returned %d with Allow %q, want 405 with GET and POST", got.status, allow)
	}
}

func TestABodyOfUnknownLengthIsLimitedToo(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	req, err := http.NewRequest(http.MethodPost, b.base+"/api/codelabs", io.LimitReader(zeros{}, 6<<20))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	b.authenticate(req)
	for _, c := range b.http.Jar.Cookies(b.site()) {
		req.AddCookie(c)
	}
	exchange(t, req).refused(413, "too large")
}

// The metrics include waits, latencies, failed logins, damage, pauses and the build.
func TestMetricsShowLatenciesFailuresAndTheBuild(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startServer(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin := c.attendee("Lin").connect(c.id, "")
	for i := range 20 {
		lin.acked(record{"type": "chat", "message": "hello"}, fmt.Sprint("r", i))
	}
	open(t, s.Addr()).post("/login", record{"admin_id": "admin", "admin_pw": "wrong"}).refused(401)
	body := ""
	value := func(name string) (sum float64) {
		for line := range strings.Lines(body) {
			if rest, ok := strings.CutPrefix(line, name); ok && (rest[0] == ' ' || rest[0] == '{') {
				fields := strings.Fields(line)
				n, _ := strconv.ParseFloat(fields[len(fields)-1], 64)
				sum += n
			}
		}
		return sum
	}
	for name, least := range map[string]float64{
		"atelier_ack_seconds_count": 20, "atelier_delivery_seconds_count": 1, "atelier_actor_wait_seconds_count": 2,
		"atelier_login_failures_total": 1, "atelier_build_info": 1,
	} {
		// The time of an ack is counted after the ack is sent.
		eventual(t, fmt.Sprintf("%s of at least %v", name, least), func() bool {
			_, body = internal(s.InternalAddr(), "/metrics")
			return value(name) >= least
		})
	}
	for _, name := range []string{"atelier_accept_pauses_total", "atelier_damaged_contents_total", "atelier_silent_connections"} {
		if !strings.Contains(body, "\n"+name+" ") {
			t.Errorf("the metric %s is missing", name)
		}
	}
	if !strings.Contains(body, `atelier_build_info{go="go1`) {
		t.Error("build_info has no labels")
	}
}
