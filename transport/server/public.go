package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/naming"
	"atelier/transport/httpapi"
	"atelier/transport/live"
	"atelier/transport/wire"
)

// answerBuffer is the size, in bytes, of the longest response that is sent by one write(2). With
// the library's 4 kB, the client wakes when the header and the first part of a body arrive, before
// it can use them. Only responses being sent have a buffer.
const answerBuffer = 32 << 10

// prefetch bounds how much of a body is read before its handler runs, in bytes. The library reads
// at most 8 KiB, and streams the rest to the handler, which applies the limit.
const prefetch = 64 << 10

// Public is the public listener.
type Public struct {
	server   *fasthttp.Server
	accept   *patientListener
	listener net.Listener // accept, or TLS over it
	silence  *silence
	failed   chan error
	serving  atomic.Bool
	leaving  atomic.Bool
	// most is the maximum number of open connections. Further connections wait.
	most int
}

// PublicOptions configures Serve. API is required.
type PublicOptions struct {
	// MaxConnections bounds the connections of the HTTP server, including idle ones. Connections
	// that were taken over do not count.
	MaxConnections int
	// API serves the paths under /api, /uploads and /git. If the client of such a request waits for
	// 100 Continue, APIExpect checks the request's header. It returns 100, or the status of the
	// final response. APIExpect can be nil.
	API       fasthttp.RequestHandler
	APIExpect func(ctx *fasthttp.RequestCtx) int
	// Access, if set, is called for each sent response with the number of its body's bytes and the
	// duration of its handler.
	Access func(ctx *fasthttp.RequestCtx, sent int64, took time.Duration)
	// Handler serves the paths of the tokenization handler, and reports whether a path is one of
	// them. It can be nil.
	Handler func(ctx *fasthttp.RequestCtx) bool
	// Commerce serves the published schemas, the business profile and the negotiation. It reports
	// whether a path is one of theirs. It can be nil.
	Commerce func(ctx *fasthttp.RequestCtx) bool
	// Live returns the number of open connections that were taken over from the HTTP server, such
	// as WebSockets. It can be nil.
	Live func() int
	// Proxy reports whether an address is a proxy with the connections of many clients. It can be
	// nil.
	Proxy func(netip.Addr) bool
	// Prefix is the path at which browsers reach the server.
	Prefix httpapi.Prefix
	// Web serves all other paths. It reads no body. If Web is nil, these paths are not found.
	Web fasthttp.RequestHandler
}

// Listen opens the public address, with TLS if a certificate is configured. Connections wait until
// Serve.
func Listen(addr string, cert *KeyPair) (*Public, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, listenError("server.listen", addr, err)
	}
	files := Descriptors()
	p := &Public{silence: newSilence(files / 2), most: files - kept(files), failed: make(chan error, 1)}
	p.accept = patient(l, func() { p.silence.close(shedAtOnce, time.Now().Add(-justOpened)) })
	p.listener = p.accept
	if cert != nil {
		p.listener = tls.NewListener(live.Beneath(p.accept), &tls.Config{
			GetCertificate: cert.Server, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			// Small records save time on a slow line, but cost a system call per kilobyte.
			DynamicRecordSizingDisabled: true,
		})
	}
	return p, nil
}

// shedAtOnce is the maximum number of silent or idle connections that are closed at once to make
// room for new ones.
const shedAtOnce = 64

// justOpened is the time after its opening for which a silent connection is not closed, because its
// request may not have arrived yet.
const justOpened = 100 * time.Millisecond

// Descriptors returns the process's limit of open files and connections.
func Descriptors() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 1024
	}
	return int(min(files.Cur, 1<<21))
}

// kept returns the number of reserved descriptors. They are for the store's files and for the
// internal listener, which is needed most when too many connections exist.
func kept(descriptors int) int { return min(descriptors/8, 512) }

// listenError explains why the server cannot listen on an address, with the configuration key.
func listenError(key, addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: %s is in use by another program; stop it or choose another address", key, addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s: this user has no permission to listen on %s; choose a port above 1023 or grant CAP_NET_BIND_SERVICE", key, addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: this machine has no address %s", key, addr)
	}
	return fmt.Errorf("%s: %w", key, err)
}

// slowAnswer is the time limit for a response with a file.
const slowAnswer = 15 * time.Minute

// timeouts allows more time for files, which the kernel sends, than for other responses.
func timeouts(prefix httpapi.Prefix) func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	return func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
		path, _, _ := bytes.Cut(h.RequestURI(), []byte{'?'})
		if bytes.HasPrefix(path, []byte(prefix.At("/uploads/"))) || bytes.HasPrefix(path, []byte("/uploads/")) || bytes.HasSuffix(path, []byte("/file")) {
			return fasthttp.RequestConfig{WriteTimeout: slowAnswer}
		}
		return fasthttp.RequestConfig{}
	}
}

// Leave marks each further response as the last on its connection. An active client then opens
// another connection before the listener closes, and does not send a request on a connection that
// is just being closed.
func (p *Public) Leave() { p.leaving.Store(true) }

func (p *Public) farewell(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		next(ctx)
		if p.leaving.Load() && !ctx.Hijacked() {
			ctx.SetConnectionClose()
		}
	}
}

// Abandon closes a listener that was never served.
func (p *Public) Abandon() error { return p.accept.Close() }

// Addr returns the listener's address.
func (p *Public) Addr() net.Addr { return p.listener.Addr() }

// Serve starts a goroutine that serves until Shutdown. Failed reports its end.
func (p *Public) Serve(o PublicOptions) {
	p.server = &fasthttp.Server{
		Handler:               observed(p.farewell(p.front(o)), o.Access),
		ErrorHandler:          malformed,
		ExpectHandler:         expect(o),
		ConnState:             p.silence.changed,
		NoDefaultServerHeader: true,
		Concurrency:           o.MaxConnections,
		ReadTimeout:           60 * time.Second,
		WriteTimeout:          60 * time.Second,
		IdleTimeout:           120 * time.Second,
		HeaderReceived:        timeouts(o.Prefix),
		ReadBufferSize:        8 << 10,
		WriteBufferSize:       answerBuffer,
		// Otherwise each idle connection would keep the buffer of its last response.
		ReduceMemoryUsage:            true,
		MaxRequestBodySize:           prefetch,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		// WebSockets and event streams outlive their handler.
		KeepHijackedConns: true,
		CloseOnShutdown:   true,
		TCPKeepalive:      true,
		Logger:            quiet{},
	}
	if o.Proxy != nil {
		p.silence.proxy = o.Proxy
	}
	p.accept.full = func() bool {
		_, open, _ := p.silence.counts()
		if o.Live != nil {
			open += o.Live()
		}
		return open >= p.most
	}
	p.serving.Store(true)
	go func() { p.failed <- p.server.Serve(p.listener) }()
}

// Serving reports whether requests are answered.
func (p *Public) Serving() bool { return p.serving.Load() }

// PublicStats contains statistics of the listener.
type PublicStats struct {
	// Pauses counts the pauses in accepting connections for lack of descriptors or memory.
	Pauses uint64
	// Silent is the current number of silent connections. Shed counts the silent and idle
	// connections that were closed, and those above the limit of their address.
	Silent int
	Shed   uint64
}

// Stats returns the listener's counts.
func (p *Public) Stats() PublicStats {
	now, _, shed := p.silence.counts()
	return PublicStats{Pauses: p.accept.pauses.Load(), Silent: now, Shed: shed}
}

// Failed receives the error that ended Serve, or nil after Shutdown.
func (p *Public) Failed() <-chan error { return p.failed }

// Shutdown stops listening and waits for requests in progress until ctx ends. Remaining requests
// are cut off, which is not an error: a client that sends half a body must not take the time for
// writing snapshots. If a handler does not notice this within toNotice, Shutdown returns an error.
// Shutdown does not wait for connections that were taken over.
//
// The HTTP server counts a new connection as busy. It would wait for a silent one until its read
// timeout, which is too long for a shutdown. For this reason, silent connections are closed first,
// but each new connection has a moment to send its request.
func (p *Public) Shutdown(ctx context.Context) error {
	// The HTTP server would not close a listener that it is just about to take over, so it is
	// closed here.
	if err := p.accept.Close(); err != nil || !p.serving.Swap(false) {
		return err
	}
	done := make(chan error, 1)
	// Handlers notice at their next read or write that their connection was closed.
	notice, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(time.Until(deadline(ctx)), 0)+toNotice)
	defer cancel()
	go func() { done <- p.server.ShutdownWithContext(notice) }()
	over := ctx.Done()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-over:
			p.silence.closeAll()
			over = nil
		case <-tick.C:
			p.silence.close(1<<30, time.Now().Add(-sayAnything))
		}
	}
}

// sayAnything is the time limit for the first request of a new connection while the server stops.
const sayAnything = 500 * time.Millisecond

// toNotice is the time limit for a handler to notice that its connection was closed.
const toNotice = 2 * time.Second

// deadline returns the deadline of ctx, or a distant time.
func deadline(ctx context.Context) time.Time {
	if d, ok := ctx.Deadline(); ok {
		return d
	}
	return time.Now().Add(time.Hour)
}

// front routes requests to the parts of the server.
func (p *Public) front(o PublicOptions) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		p.silence.spoke(ctx.Conn())
		o.Prefix.Strip(ctx)
		if why := doubtful(ctx); why != "" {
			jsonError(ctx, fasthttp.StatusBadRequest, why)
			ctx.SetConnectionClose()
			return
		}
		if o.Handler != nil && o.Handler(ctx) {
			return
		}
		if o.Commerce != nil && o.Commerce(ctx) {
			return
		}
		switch {
		case isAPI(ctx.Path()):
			o.API(ctx)
			return
		case o.Web == nil, isAPI(ctx.URI().PathOriginal()):
			// In the second case, ".." leads out of the API. Clients of the API expect no page.
			jsonError(ctx, fasthttp.StatusNotFound, "not found")
		default:
			o.Web(ctx)
		}
		wire.DiscardBody(ctx, 1<<20)
	}
}

// observed calls access for each sent response. Without access, it returns next unchanged.
func observed(next fasthttp.RequestHandler, access func(*fasthttp.RequestCtx, int64, time.Duration)) fasthttp.RequestHandler {
	if access == nil {
		return next
	}
	return func(ctx *fasthttp.RequestCtx) {
		began := time.Now()
		made := httpapi.CountSent(ctx)
		next(ctx)
		took := time.Since(began)
		made(func(sent int64) { access(ctx, sent, took) })
	}
}

func isAPI(path []byte) bool {
	return string(path) == "/api" || bytes.HasPrefix(path, []byte("/api/")) || bytes.HasPrefix(path, []byte("/uploads/")) || bytes.HasPrefix(path, []byte("/git/"))
}

// expect responds to clients that wait for 100 Continue before they send a body.
func expect(o PublicOptions) func(ctx *fasthttp.RequestCtx) int {
	return func(ctx *fasthttp.RequestCtx) int {
		o.Prefix.Strip(ctx)
		if o.APIExpect == nil || !isAPI(ctx.Path()) {
			return fasthttp.StatusContinue
		}
		return o.APIExpect(ctx)
	}
}

// doubtful returns a reason why two programs could disagree on the end of a request, or "". A
// server that continues to read after such a request can read a smuggled request. Reasons: both
// lengths are given (RFC 9112, 6.3), a field continues on another line (5.2), or the version is
// unknown.
func doubtful(ctx *fasthttp.RequestCtx) string {
	h := &ctx.Request.Header
	if version := string(h.Protocol()); version != "HTTP/1.1" && version != "HTTP/1.0" {
		return "this version of HTTP is not supported"
	}
	// The library keeps one of the two fields, and neither if the encoding is identity. The raw
	// header shows both.
	var length, encoding bool
	first := true
	for line := range bytes.Lines(h.RawHeaders()) {
		if !first && (line[0] == ' ' || line[0] == '\t') {
			return "a header field continues on another line"
		}
		first = false
		// Only names that can match are compared. Comparing all took 2 % of the time of a small read.
		if c := line[0] | 0x20; 'a' <= c && c <= 'z' && c != 'c' && c != 't' {
			continue
		}
		name, _, _ := bytes.Cut(line, []byte{':'})
		name = bytes.TrimSpace(name)
		length = length || bytes.EqualFold(name, []byte("Content-Length"))
		encoding = encoding || bytes.EqualFold(name, []byte("Transfer-Encoding"))
	}
	if length && encoding && h.ContentLength() != 0 { // without a body, nothing is doubtful
		return "Content-Length and Transfer-Encoding exclude each other"
	}
	return ""
}

// malformed responds to requests that could not be read: they are not HTTP, too slow, or have too
// large a header.
func malformed(ctx *fasthttp.RequestCtx, err error) {
	status, text := fasthttp.StatusBadRequest, "malformed request"
	var small *fasthttp.ErrSmallBuffer
	switch {
	case asError(err, &small):
		status, text = fasthttp.StatusRequestHeaderFieldsTooLarge, "the header is too large"
	case isTimeout(err):
		status, text = fasthttp.StatusRequestTimeout, "the request took too long"
	}
	jsonError(ctx, status, text)
}

func jsonError(ctx *fasthttp.RequestCtx, status int, text string) {
	ctx.Response.Reset()
	ctx.Response.Header.Set("X-Request-Id", naming.NewID())
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.SetBodyString(`{"error":"` + text + `"}`)
}

// quiet discards the library's log, which prints data from clients.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
