package acceptance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw sends bytes on a connection of their own and reads the statuses of the
// answers until the server closes.
func raw(t *testing.T, addr, text string) (statuses []int) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return statuses
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Errorf("the answer breaks off: %v", err)
		}
		if res.Header.Get("X-Request-Id") == "" {
			t.Errorf("the answer %d has no request id", res.StatusCode)
		}
		statuses = append(statuses, res.StatusCode)
	}
}

const goodbye = "GET /api/openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// A body that nobody wanted must not be taken for the next request.
func TestARefusedBodyIsNotTheNextRequest(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	inner := "GET /api/asyncapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner)
	large := strings.Repeat(inner, 3000) // more than is read before the handler runs
	for name, first := range map[string]struct {
		text   string
		status int
	}{
		"another media type": {"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner, 415},
		"a large one":        {"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: " + fmt.Sprint(len(large)) + "\r\n\r\n" + large, 415},
		"chunks":             {"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked, 415},
		"no session":         {"POST /api/codelabs HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner, 401},
		"no operation":       {"POST /api/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner, 404},
		"outside of /api":    {"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(large)) + "\r\n\r\n" + large, 404},
		"a read with a body": {"GET /api/session HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner, 401},
	} {
		got := raw(t, addr, first.text+goodbye)
		if want := []int{first.status, 200}; fmt.Sprint(got) != fmt.Sprint(want) && fmt.Sprint(got) != fmt.Sprint(want[:1]) {
			t.Errorf("%s: the answers are %v, want %v", name, got, want)
		}
	}
}

func TestWhatIsNoRequestIsToldSo(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	for _, text := range []string{
		"rubbish\r\n\r\n", "GET\r\n\r\n", "GET /api/codelabs HTTP/1.1\r\nno colon\r\n\r\n",
		"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
		"GET /api/codelabs HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 20_000) + "\r\n\r\n",
	} {
		if got := raw(t, addr, text); len(got) != 1 || got[0] != 400 && got[0] != 431 {
			t.Errorf("%.60q is answered by %v", text, got)
		}
	}
}

// TestNobodyIsToldToSendWhatWillBeRefused: 100 Continue was sent where 401 or
// 413 was certain, and the whole file came for nothing.
func TestNobodyIsToldToSendWhatWillBeRefused(t *testing.T) {
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
		"no session":       {head(own, 1000, nil), 401},
		"another's":        {head(c.path+"/attendees/"+unknownID+"/submissions", 1000, lin.browser), 100},
		"not an admin":     {head("/upload/material", 1000, lin.browser), 403},
		"too large":        {head(own, 20<<20, lin.browser), 413},
		"no operation":     {head("/nothing", 1000, lin.browser), 404},
		"what is welcome":  {head(own, 1000, lin.browser), 100},
		"a large material": {head("/upload/material", 50<<20, c.admin), 100},
	} {
		if got := firstStatus(t, c.addr, tc.text); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// firstStatus sends bytes and reads the status of the first answer.
func firstStatus(t *testing.T, addr, text string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	var status int
	if _, err := fmt.Fscanf(conn, "HTTP/1.1 %d", &status); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return status
}

// TestTwoLengthsAreNone: a request with Content-Length and Transfer-Encoding
// may end elsewhere for a proxy in front, so nothing behind it is read.
func TestTwoLengthsAreNone(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	smuggled := "GET /api/asyncapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, order := range []string{"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\ncontent-length: 4\r\n", "Transfer-Encoding: identity\r\nContent-Length: 12\r\n"} {
		got := raw(t, addr, "POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+order+"\r\n2\r\n{}\r\n0\r\n\r\n"+smuggled)
		if len(got) != 1 || got[0] != 400 {
			t.Errorf("%q: %v", order, got)
		}
	}
}

// TestAllowNamesWhatIsAllowed: OPTIONS, which was named, is 405 itself.
func TestAllowNamesWhatIsAllowed(t *testing.T) {
	t.Parallel()
	b := open(t, common.get(t).Addr())
	for _, method := range []string{"PATCH", "OPTIONS"} {
		got := b.send(method, "/login", nil)
		if allow := got.header.Get("Allow"); got.status != 405 || allow != "POST" {
			t.Errorf("%s: %d, Allow %q", method, got.status, allow)
		}
	}
}

// TestHandshakesAreHeldAgainstTheRFC: a short key or HTTP/1.0 got 101.
func TestHandshakesAreHeldAgainstTheRFC(t *testing.T) {
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
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%v: %v", headers, err)
		}
		return res.StatusCode, res.Header.Get("Sec-WebSocket-Version")
	}
	const upgrade, connection, key, version = "Upgrade: websocket", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"
	for name, tc := range map[string]struct {
		proto   string
		headers []string
		want    int
	}{
		"as it should be":  {"HTTP/1.1", []string{upgrade, connection, key, version}, 101},
		"HTTP/1.0":         {"HTTP/1.0", []string{upgrade, connection, key, version}, 400},
		"a short key":      {"HTTP/1.1", []string{upgrade, connection, "Sec-WebSocket-Key: c2hvcnQ=", version}, 400},
		"no key":           {"HTTP/1.1", []string{upgrade, connection, version}, 400},
		"no Base64":        {"HTTP/1.1", []string{upgrade, connection, "Sec-WebSocket-Key: !!!!IHNhbXBsZSBub25jZQ==", version}, 400},
		"a dropped header": {"HTTP/1.1", []string{key, version}, 400},
		"version 8":        {"HTTP/1.1", []string{upgrade, connection, key, "Sec-WebSocket-Version: 8"}, 426},
	} {
		got, spoken := shake(tc.proto, tc.headers...)
		if got != tc.want || (got == 426) != (spoken == "13") {
			t.Errorf("%s: %d, version %q", name, got, spoken)
		}
	}
}
