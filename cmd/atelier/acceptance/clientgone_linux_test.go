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
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
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
	const title = "Made for nobody"
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
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode != 400 {
		t.Errorf("the import returned %d: %s", res.StatusCode, text)
	}
	for _, lab := range b.get("/codelabs").list() {
		if lab.text("title") == title {
			t.Error("the codelab was created")
		}
	}
}
