package service

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/bench/api"
	"atelier/cmd/atelier/config"
)

// BenchmarkRead measures the handler of GET /codelabs/{id}, without sockets and the HTTP parser.
// The caller is a facilitator. The body has 17 kB.
func BenchmarkRead(b *testing.B) {
	cfg := config.Default()
	cfg.Server.Listen, cfg.Server.Data = "127.0.0.1:0", b.TempDir()
	cfg.Admin.Password = "a password of this benchmark"
	cfg.Limits.ReadsPerMinute = 1 << 30
	s, err := Start(cfg, Options{}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			b.Error(err)
		}
	}()
	client, err := api.New("http://"+s.Addr(), "", time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	admin, err := client.Login(cfg.Admin.ID, string(cfg.Admin.Password), "")
	if err != nil {
		b.Fatal(err)
	}
	var steps [][2]string
	for range 10 {
		steps = append(steps, [2]string{"A step", strings.Repeat("some text of a step. ", 80)})
	}
	lab, err := client.Create(admin, "A workshop", steps)
	if err != nil {
		b.Fatal(err)
	}
	var request fasthttp.Request
	request.SetRequestURI("/api/codelabs/" + lab.ID)
	request.Header.SetHost(s.Addr())
	request.Header.Set("Cookie", admin.Cookie())
	request.Header.SetUserAgent("benchmark")
	var ctx fasthttp.RequestCtx
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	b.ReportAllocs()
	for b.Loop() {
		ctx.Init(&request, from, nil)
		s.api.Handler(&ctx)
		if ctx.Response.StatusCode() != fasthttp.StatusOK || len(ctx.Response.Body()) < 16<<10 {
			b.Fatalf("%d: %d bytes", ctx.Response.StatusCode(), len(ctx.Response.Body()))
		}
		ctx.Response.Reset()
		ctx.ResetUserValues()
	}
}
