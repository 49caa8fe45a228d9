package service

import (
	"errors"
	"net"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/transport/httpapi"
	"atelier/transport/web"
)

// overHTTPS reports whether browsers reach the server by HTTPS.
func overHTTPS(c config.Server) bool {
	return c.TLSCert != "" || strings.HasPrefix(c.PublicURL, "https:")
}

// newWeb creates the part that serves the browser app.
func (s *Service) newWeb(client func(*fasthttp.RequestCtx) string) (*web.Handler, error) {
	// Serving a certificate can require reading its codelab from disk.
	limiter := httpapi.NewLimiter(httpapi.Rate{Burst: s.cfg.Limits.ReadsPerMinute, Per: time.Minute}, time.Now)
	return web.New(web.Config{
		Build: web.Built(), Certificate: s.certificate, HTTPS: overHTTPS(s.cfg.Server), Embed: s.cfg.Web.Embed,
		FrameAncestors: s.cfg.Web.FrameAncestors, Prefix: s.origins().Prefix(),
		Wait: func(ctx *fasthttp.RequestCtx) time.Duration { return limiter.Allow(httpapi.Address(client(ctx))) },
	})
}

// certificate returns the data of an attendee's certificate. It returns false if the attendee does
// not exist, is simulated, or has not completed the codelab.
func (s *Service) certificate(id string) (web.Certificate, bool, error) {
	v, a, err := s.core.codelabs.FindAttendee(id)
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &rejected) && rejected.Reason == durable.Missing:
		return web.Certificate{}, false, nil
	case err != nil:
		return web.Certificate{}, false, err
	case a.Simulated || a.CompletedAt == 0:
		return web.Certificate{}, false, nil
	}
	return web.Certificate{
		Attendee: a.Name, Codelab: v.Meta.Title, Author: v.Meta.Author, CompletedAt: time.UnixMilli(a.CompletedAt),
	}, true, nil
}

// openAt returns the address of the app. It is the configured address, or an address for a browser
// on this machine.
func openAt(c config.Server, listening string) string {
	if c.PublicURL != "" {
		return strings.TrimSuffix(c.PublicURL, "/")
	}
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	// Browsers cannot open the wildcard address.
	if host, port, err := net.SplitHostPort(listening); err == nil {
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			listening = net.JoinHostPort("127.0.0.1", port)
		}
	}
	return scheme + "://" + listening
}
