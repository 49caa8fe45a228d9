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
