package acceptance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// In an earlier version, an import continued after the client had disconnected, and created a
// codelab although nobody received the response. In this test the connection ends in the packet
// with the last byte, so the end arrives before the work begins.
func TestADisconnectedClientEndsItsImport(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	b := facilitator(t, addr, "")
	// The kernel delays the last packet for at most 200 milliseconds. On a busy machine, the
	// end of the connection can therefore arrive in a later packet, after the import.
	const tries = 5
	title, status, text := "", 0, ""
	for try := 0; try < tries && (status == 0 || status == 200); try++ {
		title = fmt.Sprint("Made for nobody ", try)
		status, text = importAndLeave(t, b, addr, title)
	}
	if status != 400 {
		t.Errorf("the import returned %d: %s", status, text)
	}
	for _, lab := range b.get("/codelabs").list() {
		if lab.text("title") == title {
			t.Error("the codelab was created")
		}
	}
}

// importAndLeave sends an import, and the end of the connection in the packet with the import's
// last byte. It returns the response.
func importAndLeave(t *testing.T, b *browser, addr, title string) (status int, text string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testTimeout))
	control, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var corked error
	if err := control.Control(func(fd uintptr) {
		corked = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CORK, 1)
	}); err != nil || corked != nil {
		t.Fatal(err, corked)
	}
	body := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.md\"\r\n\r\nid: x\n# " + title + "\n## S\ntext\n\r\n--b--\r\n"
	_, err = fmt.Fprintf(conn, "POST /api/codelabs/import HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n"+
		"Cookie: svc_session=%s; svc_csrf=%s\r\nX-CSRF-Token: %s\r\n\r\n%s", len(body), b.cookie("svc_session"), b.cookie("svc_csrf"), b.cookie("svc_csrf"), body)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(got)
}
