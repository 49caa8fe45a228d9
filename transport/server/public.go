package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/ids"
	"atelier/transport/body"
)

// prefetch is how much of a body is read before its handler runs. A larger
// body is streamed to the handler, which knows its limit.
const prefetch = 64 << 10

// Public is the public listener.
type Public struct {
	server   *fasthttp.Server
	listener net.Listener
	failed   chan error
}

// PublicOptions says how to listen. API is required.
type PublicOptions struct {
	Listen string
	// CertFile and KeyFile (PEM) make it serve TLS.
	CertFile, KeyFile string
	// MaxConnections bounds the connections that are answering a request.
	MaxConnections int
	// API serves what is under /api and /uploads.
	API fasthttp.RequestHandler
	// Handler serves the tokenization handler; it says whether a path is its
	// own. May be nil.
	Handler func(ctx *fasthttp.RequestCtx) bool
	// Commerce serves the published schemas, the business profile and the
	// negotiation; it says whether a path is its own. May be nil.
	Commerce func(ctx *fasthttp.RequestCtx) bool
}

// Listen opens the public listener; Serve answers.
func Listen(o PublicOptions) (*Public, error) {
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if o.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
		if err != nil {
			_ = l.Close()
			return nil, fmt.Errorf("load certificate: %w", err)
		}
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	return &Public{
		listener: l,
		failed:   make(chan error, 1),
		server: &fasthttp.Server{
			Handler:                      front(o),
			ErrorHandler:                 malformed,
			NoDefaultServerHeader:        true,
			NoDefaultDate:                true,
			Concurrency:                  o.MaxConnections,
			ReadTimeout:                  60 * time.Second,
			WriteTimeout:                 60 * time.Second,
			IdleTimeout:                  120 * time.Second,
			HeaderReceived:               timeouts,
			ReadBufferSize:               8 << 10,
			MaxRequestBodySize:           prefetch,
			StreamRequestBody:            true,
			DisablePreParseMultipartForm: true,
			// WebSockets and event streams outlive their handler.
			KeepHijackedConns: true,
			CloseOnShutdown:   true,
			TCPKeepalive:      true,
			Logger:            quiet{},
		},
	}, nil
}

// slowAnswer is how long the answer to a request for a file may take.
const slowAnswer = 15 * time.Minute

// timeouts gives files, which the kernel sends by itself, more time than other
// answers have.
func timeouts(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	path, _, _ := bytes.Cut(h.RequestURI(), []byte{'?'})
	if bytes.HasPrefix(path, []byte("/uploads/")) || bytes.HasSuffix(path, []byte("/file")) {
		return fasthttp.RequestConfig{WriteTimeout: slowAnswer}
	}
	return fasthttp.RequestConfig{}
}

// Addr is the address it listens on.
func (p *Public) Addr() net.Addr { return p.listener.Addr() }

// Serve answers until Shutdown, on its own goroutine. Failed tells when it
// cannot go on.
func (p *Public) Serve() {
	go func() { p.failed <- p.server.Serve(p.listener) }()
}

// Failed gets the error that ended the serving, nil after Shutdown.
func (p *Public) Failed() <-chan error { return p.failed }

// Shutdown stops listening and waits for the requests under way. It knows
// nothing of connections that were taken over.
func (p *Public) Shutdown(ctx context.Context) error { return p.server.ShutdownWithContext(ctx) }

// front sends a request to its part of the house.
func front(o PublicOptions) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if o.Handler != nil && o.Handler(ctx) {
			return
		}
		if o.Commerce != nil && o.Commerce(ctx) {
			body.Discard(ctx, 1<<20)
			return
		}
		path := string(ctx.Path())
		if path == "/api" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/uploads/") {
			o.API(ctx)
			return
		}
		switch {
		case path == "/" && ctx.IsGet():
			ctx.Response.Header.Set("X-Request-Id", ids.New())
			ctx.SetContentType("text/plain; charset=utf-8")
			ctx.SetBodyString("Atelier is running. Its interface is described at /api/openapi.json and /api/asyncapi.json.\n")
		default:
			jsonError(ctx, fasthttp.StatusNotFound, "not found")
		}
		body.Discard(ctx, 1<<20)
	}
}

// malformed answers what is no HTTP request.
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
	ctx.Response.Header.Set("X-Request-Id", ids.New())
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.SetBodyString(`{"error":"` + text + `"}`)
}

// quiet drops the library's log: it prints what clients send.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
