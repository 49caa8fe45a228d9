package acceptance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// raw sends bytes on a separate connection. It returns the statuses of all responses until the
// server closes the connection.
func raw(t *testing.T, addr, text string) (statuses []int) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testTimeout))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return statuses
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Errorf("the response ended early: %v", err)
		}
		if res.Header.Get("X-Request-Id") == "" {
			t.Errorf("the response %d has no request id", res.StatusCode)
		}
		statuses = append(statuses, res.StatusCode)
	}
}

const goodbye = "GET /api/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// The body of a refused request must not be parsed as the next request.
func TestARefusedBodyIsNotTheNextRequest(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	inner := "GET /api/asyncapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner)
	large := strings.Repeat(inner, 3000) // more than the server reads before the handler runs
	for name, first := range map[string]struct {
		text   string
		status int
	}{
		"another media type": {"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner, 415},
		"a large body":       {"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: " + fmt.Sprint(len(large)) + "\r\n\r\n" + large, 415},
		"chunks":             {"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked, 415},
		"no session":         {"POST /api/codelabs HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner, 401},
		"not an operation":   {"POST /api/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner, 404},
		"outside of /api":    {"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(large)) + "\r\n\r\n" + large, 404},
		"a read with a body": {"GET /api/session HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner, 401},
	} {
		got := raw(t, addr, first.text+goodbye)
		if want := []int{first.status, 200}; fmt.Sprint(got) != fmt.Sprint(want) && fmt.Sprint(got) != fmt.Sprint(want[:1]) {
			t.Errorf("%s: the statuses are %v, want %v", name, got, want)
		}
	}
}

func TestInvalidRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	for _, text := range []string{
		"rubbish\r\n\r\n", "GET\r\n\r\n", "GET /api/codelabs HTTP/1.1\r\nno colon\r\n\r\n",
		"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
		"GET /api/codelabs HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 20_000) + "\r\n\r\n",
	} {
		if got := raw(t, addr, text); len(got) != 1 || got[0] != 400 && got[0] != 431 {
			t.Errorf("%.60q returned %v, want one 400 or 431", text, got)
		}
	}
}

// An earlier version sent 100 Continue although 401 or 413 was certain, and the client then sent
// the whole file in vain.
func TestARefusedRequestGetsNo100Continue(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	head := func(path string, length int, b *browser) string {
		text := fmt.Sprintf("POST /api%s HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\nExpect: 100-continue\r\n", path, length)
		if b != nil {
			text += "Cookie: svc_session=" + b.cookie("svc_session") + "; svc_csrf=" + b.cookie("svc_csrf") + "\r\nX-CSRF-Token: " + b.cookie("svc_csrf") + "\r\n"
		}
		return text + "\r\n"
	}
	own := c.path + "/attendees/" + lin.id + "/submissions"
	for name, tc := range map[string]struct {
		text string
		want int
	}{
		"no session":        {head(own, 1000, nil), 401},
		"another attendee":  {head(c.path+"/attendees/"+unknownID+"/submissions", 1000, lin.browser), 100},
		"not an admin":      {head("/upload/material", 1000, lin.browser), 403},
		"too large":         {head(own, 20<<20, lin.browser), 413},
		"not an operation":  {head("/nothing", 1000, lin.browser), 404},
		"an allowed upload": {head(own, 1000, lin.browser), 100},
		"a large material":  {head("/upload/material", 50<<20, c.admin), 100},
	} {
		if got := firstStatus(t, c.addr, tc.text); got != tc.want {
			t.Errorf("%s: status %d, want %d", name, got, tc.want)
		}
	}
}

// firstStatus sends bytes and returns the status of the first response.
func firstStatus(t *testing.T, addr, text string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testTimeout))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	var status int
	if _, err := fmt.Fscanf(conn, "HTTP/1.1 %d", &status); err != nil {
		t.Fatalf("reading the response to %q: %v", text, err)
	}
	return status
}

// A request with both Content-Length and Transfer-Encoding has two possible ends, and a proxy can
// choose the other one. The server therefore reads nothing after such a request.
func TestARequestWithTwoLengthsIsRefused(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	smuggled := "GET /api/asyncapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, order := range []string{"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\ncontent-length: 4\r\n", "Transfer-Encoding: identity\r\nContent-Length: 12\r\n"} {
		got := raw(t, addr, "POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+order+"\r\n2\r\n{}\r\n0\r\n\r\n"+smuggled)
		if len(got) != 1 || got[0] != 400 {
			t.Errorf("%q returned %v", order, got)
		}
	}
}

// In an earlier version, Allow contained OPTIONS, although OPTIONS itself gets 405.
func TestAllowListsOnlyAllowedMethods(t *testing.T) {
	t.Parallel()
	b := open(t, common.get(t).Addr())
	for _, method := range []string{"PATCH", "OPTIONS"} {
		got := b.send(method, "/login", nil)
		if allow := got.header.Get("Allow"); got.status != 405 || allow != "POST" {
			t.Errorf("%s: status %d, Allow %q", method, got.status, allow)
		}
	}
}

// Allow lists the methods of this path. It does not list the methods of another path with a
// parameter in place of the last word.
func TestAllowListsTheMethodsOfThePath(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	for path, want := range map[string]string{
		c.path + "/questions/from": "POST", c.path + "/submissions/download": "GET, HEAD", c.path + "/export/all": "GET, HEAD",
		c.path + "/attendees/" + lin.id + "/submissions/link": "POST", c.path + "/questions/" + lin.id: "DELETE, PUT", "/app": "GET, HEAD",
	} {
		for _, method := range []string{"PUT", "DELETE", "PATCH", "GET", "HEAD", "POST"} {
			if slices.Contains(strings.Split(want, ", "), method) {
				continue
			}
			if got := c.admin.send(method, path, nil); got.status != 405 || got.header.Get("Allow") != want {
				t.Errorf("%s %s: status %d, Allow %q, want %q", method, path, got.status, got.header.Get("Allow"), want)
			}
		}
	}
}

// RFC 9110, 6.6.1 requires Date. Without it, clients cannot distinguish a cached response from a
// new one. A clock that is set by a cached response is wrong by the response's age.
func TestEveryResponseHasADate(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	dated := func(what string, h http.Header) {
		t.Helper()
		at, err := http.ParseTime(h.Get("Date"))
		if err != nil || len(h.Values("Date")) != 1 || time.Since(at).Abs() > time.Hour {
			t.Errorf("%s: Date is %q", what, h.Values("Date"))
		}
	}
	tag := lin.get(c.path).header.Get("ETag")
	for _, a := range []answer{
		lin.get("/app"), lin.get(c.path), lin.send("GET", c.path, nil, header("If-None-Match", tag)), lin.send("GET", "/nowhere", nil), lin.send("PATCH", "/login", nil),
		lin.send("POST", "/login", "{"), lin.send("GET", "/codelabs/x", nil), open(t, c.addr).send("GET", c.path+"/overview", nil), lin.send("HEAD", c.path, nil),
	} {
		dated(fmt.Sprintf("%s: %d", a.what, a.status), a.header)
	}
	for _, path := range []string{"/", "/codelabs/" + c.id, "/nowhere", "/assets/none.js", "/handler", "/.well-known/commerce", "/uploads/images/none.png"} {
		req, err := http.NewRequest("GET", lin.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := exchange(t, req)
		dated(fmt.Sprintf("%s: %d", path, a.status), a.header)
	}
	_, res := lin.dial("/ws/" + c.id)
	dated("the handshake", res.Header)
	for what, request := range map[string]string{
		"invalid bytes": "rubbish\r\n\r\n",
		"large fields":  "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 9<<10) + "\r\n\r\n",
		"a stream":      "GET /api" + c.path + "/events HTTP/1.1\r\nHost: " + c.addr + "\r\nCookie: svc_session=" + lin.cookie("svc_session") + "\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(testTimeout))
		_, _ = io.WriteString(conn, request)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: reading the response: %v", what, err)
		}
		dated(what, res.Header)
		_ = conn.Close()
	}
}

// RFC 9110, 9.1 requires HEAD. A HEAD request leaves no audit records.
func TestHeadWorksWhereverGetDoes(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	before := len(c.audited())
	for _, path := range []string{
		"/app", "/openapi.json", "/asyncapi.json", c.path, c.path + "/chat", c.path + "/attendees/" + lin.id, c.path + "/overview", c.path + "/export", c.path + "/export/all",
		c.path + "/export/attendance.csv", c.path + "/attendees/" + lin.id + "/export", "/codelabs", "/admin/session", "/codelabs/x", "/codelabs/" + lin.id, c.path + "/export/attendance.csv?bom=x",
	} {
		for _, who := range []*browser{c.admin, lin.browser, open(t, c.addr)} {
			head := who.send("HEAD", path, nil)
			if len(head.body) != 0 || head.header.Get("Set-Cookie") != "" {
				t.Errorf("HEAD %s returned the body %q and the cookie %q", path, head.body, head.header.Get("Set-Cookie"))
			}
			if strings.Contains(path, "export") {
				continue // effects of GET are not compared here
			}
			get := who.send("GET", path, nil)
			if head.status != get.status || head.header.Get("Content-Type") != get.header.Get("Content-Type") || head.header.Get("ETag") != get.header.Get("ETag") {
				t.Errorf("%s: HEAD returned %d %v, GET %d %v", path, head.status, head.header, get.status, get.header)
			}
		}
	}
	for path, want := range map[string]int{"/export": 200, "/export/attendance.csv": 200, "/export/all": 200, "/export/none.csv": 404} {
		if got := c.admin.send("HEAD", c.path+path, nil); got.status != want {
			t.Errorf("HEAD %s returned %d, want %d", path, got.status, want)
		}
	}
	if after := len(c.audited()); after != before {
		t.Errorf("HEAD requests left %d audit records", after-before)
	}
	// Nothing follows the header. Otherwise a client would read a body as the next response.
	for _, path := range []string{"/export", "/chat", "/export/attendance.csv", ""} {
		fields := " HTTP/1.1\r\nHost: " + c.addr + "\r\nCookie: svc_session=" + c.admin.cookie("svc_session") + "\r\n"
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(testTimeout))
		_, _ = io.WriteString(conn, "HEAD /api"+c.path+path+fields+"\r\nGET /api/app"+fields+"Connection: close\r\n\r\n")
		all, err := io.ReadAll(conn)
		_ = conn.Close()
		head, rest, _ := strings.Cut(string(all), "\r\n\r\n")
		if err != nil || !strings.HasPrefix(head, "HTTP/1.1 200") || !strings.HasPrefix(rest, "HTTP/1.1 200") || strings.Contains(head, "\nContent-Length: 0\r") {
			t.Errorf("HEAD %s returned %v, %.40q, then %.40q", path, err, head, rest)
		}
	}
	// HEAD for a stream ends after the header, and nobody is counted as connected.
	if a := lin.send("HEAD", c.path+"/events", nil); a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD of the stream returned %d %v", a.status, a.header)
	}
	if a := open(t, c.addr).send("HEAD", c.path+"/events", nil); a.status != 401 {
		t.Errorf("HEAD of the stream without a session returned %d", a.status)
	}
	if here := fmt.Sprint(c.admin.get(c.path + "/presence").object()["attendee_ids"]); here != "[]" {
		t.Errorf("the present attendees are %s", here)
	}
}

// In an earlier version, a request with a short key or HTTP/1.0 got 101.
func TestHandshakesFollowTheRFC(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	shake := func(version string, headers ...string) (int, string) {
		text := "GET /api/ws/" + c.id + " " + version + "\r\nHost: " + c.addr + "\r\nCookie: svc_session=" + lin.cookie("svc_session") + "\r\n" +
			strings.Join(headers, "\r\n") + "\r\n\r\n"
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(testTimeout))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("handshake with %v: %v", headers, err)
		}
		return res.StatusCode, res.Header.Get("Sec-WebSocket-Version")
	}
	const upgrade, connection, key, version = "Upgrade: websocket", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"
	for name, tc := range map[string]struct {
		proto   string
		headers []string
		want    int
	}{
		"a valid handshake": {"HTTP/1.1", []string{upgrade, connection, key, version}, 101},
		"HTTP/1.0":          {"HTTP/1.0", []string{upgrade, connection, key, version}, 400},
		"a short key":       {"HTTP/1.1", []string{upgrade, connection, "Sec-WebSocket-Key: c2hvcnQ=", version}, 400},
		"no key":            {"HTTP/1.1", []string{upgrade, connection, version}, 400},
		"invalid Base64":    {"HTTP/1.1", []string{upgrade, connection, "Sec-WebSocket-Key: !!!!IHNhbXBsZSBub25jZQ==", version}, 400},
		"a dropped header":  {"HTTP/1.1", []string{key, version}, 400},
		"version 8":         {"HTTP/1.1", []string{upgrade, connection, key, "Sec-WebSocket-Version: 8"}, 426},
	} {
		got, spoken := shake(tc.proto, tc.headers...)
		if got != tc.want || (got == 426) != (spoken == "13") {
			t.Errorf("%s: the handshake returned %d, with the version %q", name, got, spoken)
		}
	}
}
