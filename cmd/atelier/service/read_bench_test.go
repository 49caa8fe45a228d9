package service

import (
	"net"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/cmd/atelier/config"
)

// BenchmarkRead measures the handler of GET /codelabs/{id}, without sockets and the HTTP parser.
// The caller is a facilitator. The body has 17 kB.
func BenchmarkRead(b *testing.B) {
	cfg := config.Default()
	cfg.Server.Listen, cfg.Server.Data = "127.0.0.1:0", b.TempDir()
	cfg.Admin.Password = "a password of this benchmark"
	cfg.Limits.ReadsPerMinute = 1 << 30
	l := list{B: b, cfg: cfg}
	l.start()
	defer l.stop()
	var steps [][2]string
	for range 10 {
		steps = append(steps, [2]string{"A step", strings.Repeat("some text of a step. ", 80)})
	}
	lab, err := l.client.Create(l.admin, "A workshop", steps)
	l.must(err)
	var request fasthttp.Request
	request.SetRequestURI("/api/codelabs/" + lab.ID)
	request.Header.SetHost(l.service.Addr())
	request.Header.Set("Cookie", l.admin.Cookie())
	request.Header.SetUserAgent("benchmark")
	var ctx fasthttp.RequestCtx
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	b.ReportAllocs()
	for b.Loop() {
		ctx.Init(&request, from, nil)
		l.service.api.Handler(&ctx)
		if ctx.Response.StatusCode() != fasthttp.StatusOK || len(ctx.Response.Body()) < 16<<10 {
			b.Fatalf("%d: %d bytes", ctx.Response.StatusCode(), len(ctx.Response.Body()))
		}
		ctx.Response.Reset()
		ctx.ResetUserValues()
	}
}
