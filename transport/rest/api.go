package rest

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"atelier/actors/catalog"
	"atelier/actors/catalog/catalogpb"
	"atelier/actors/code"
	"atelier/actors/codelab"
	"atelier/actors/files"
	"atelier/actors/participant"
	"atelier/transport/ai/keys"
	"atelier/transport/auth"
	"atelier/transport/limit"
)

// Config of the API. All fields are required unless said otherwise.
type Config struct {
	Workshops codelab.Directory
	List      *catalog.List
	Audit     *catalog.Audit
	Files     *files.Register
	Settings  *catalog.SettingsHost
	// Participants of the tokenization handler.
	Participants *participant.Host
	Auth         *auth.Authenticator
	Limits       Limits
	// Live serves the operations that need a connection of their own: the
	// WebSocket, the event stream, and messages posted in their place.
	Live Live
	// AI answers questions, AIModels says of which models, and AIKeys opens
	// the keys for it.
	AI       AI
	AIModels AIModels
	AIKeys   *keys.Ring
	// Workspaces holds the code of codelabs.
	Workspaces code.Store
	// Denials takes note of refused requests for the audit trail.
	Denials func(status int, actorType, actorID, codelab, ip string)
	// Observe is told of each answer; may be nil.
	Observe func(operation string, status int, took time.Duration)
	// LoginFailed is told of each wrong login; may be nil.
	LoginFailed func()

	App     AppInfo
	AdminID string
	// StreamID names the store's stream; entity tags carry it.
	StreamID string
	// SecureCookies says that browsers reach the server by https.
	SecureCookies bool
	// TrustedProxies are believed when they tell whom they forward for.
	TrustedProxies []netip.Prefix
	Logger         *slog.Logger
	Now            func() time.Time
}

// Limits are the token buckets of the interface (decisions W12). A nil one
// allows everything.
type Limits struct {
	Reads, Writes, Uploads, Images, WrongPINs *limit.Limiter
	// Registrations are limited for each codelab, and for each address.
	Registrations, RegistrationsFrom *limit.Limiter
	// Joins are look-ups of join codes, of each address.
	Joins *limit.Limiter
}

// Live are the operations on live connections. They run after the pipeline
// has checked who is calling.
type Live interface {
	WebSocket(r *Request) error
	Events(r *Request) error
	Message(r *Request) error
}

// API serves the interface. Safe for concurrent use.
type API struct {
	Config
	router *router.Router
}

// New returns the API.
func New(cfg Config) *API {
	a := &API{Config: cfg, router: router.New()}
	a.router.RedirectTrailingSlash = false
	a.router.RedirectFixedPath = false
	a.router.HandleOPTIONS = false
	a.router.NotFound = func(ctx *fasthttp.RequestCtx) { a.refuse(ctx, errNoOperation) }
	a.router.MethodNotAllowed = func(ctx *fasthttp.RequestCtx) { a.refuse(ctx, errMethod) }
	for _, op := range operations {
		path := op.path
		if !op.root {
			path = "/api" + path
		}
		a.router.Handle(op.method, path, a.serve(op))
		if op.head {
			a.router.Handle(fasthttp.MethodHead, path, a.serve(op))
		}
	}
	return a
}

// Handler is the entry for paths under /api and /uploads.
func (a *API) Handler(ctx *fasthttp.RequestCtx) { a.router.Handler(ctx) }

// refuse answers a request that reaches no operation.
func (a *API) refuse(ctx *fasthttp.RequestCtx, err error) {
	r := &Request{RequestCtx: ctx, api: a}
	r.begin()
	if allow := ctx.Response.Header.Peek("Allow"); len(allow) > 0 {
		// The router counts OPTIONS in, which no operation has.
		methods := slices.DeleteFunc(strings.Split(string(allow), ", "), func(m string) bool { return m == fasthttp.MethodOptions })
		ctx.Response.Header.Set("Allow", strings.Join(methods, ", "))
	}
	r.fail(err)
	if r.expecting() {
		return
	}
	r.discardBody()
	a.observe("none", r, a.Now())
}

func (a *API) observe(operation string, r *Request, began time.Time) {
	if a.Observe != nil {
		a.Observe(operation, r.Response.StatusCode(), a.Now().Sub(began))
	}
}

// ClientIP is the address of who is calling. X-Forwarded-For counts only from
// a trusted proxy: the last address in it that is no proxy of ours.
func (a *API) ClientIP(ctx *fasthttp.RequestCtx) string {
	ip := addrOf(ctx.RemoteAddr())
	if !a.trusted(ip) {
		return ip.String()
	}
	// Lines of their own count like parts of one: some proxies add a line.
	forwarded := string(bytes.Join(ctx.Request.Header.PeekAll("X-Forwarded-For"), []byte{','}))
	for end := len(forwarded); end > 0; {
		start := end
		for start > 0 && forwarded[start-1] != ',' {
			start--
		}
		hop, err := netip.ParseAddr(strings.Trim(forwarded[start:end], " "))
		if err != nil {
			break
		}
		// A zone names an interface of who wrote it, and says nothing here.
		if ip = hop.WithZone("").Unmap(); !a.trusted(ip) {
			break
		}
		end = start - 1
	}
	return ip.String()
}

func (a *API) trusted(ip netip.Addr) bool {
	for _, p := range a.TrustedProxies {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

func addrOf(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		ip, _ := netip.AddrFromSlice(t.IP)
		return ip.Unmap()
	}
	return netip.Addr{}
}

// denied takes note of a refusal.
func (a *API) denied(r *Request, status int) {
	if a.Denials == nil {
		return
	}
	kind, id := "anonymous", ""
	switch {
	case r.who.Admin():
		kind, id = "admin", a.AdminID
	case r.who.Known():
		kind = "attendee"
		r.who.Grants(func(_ string, g *catalogpb.AttendeeGrant) { id = g.AttendeeId })
	}
	lab, _ := r.UserValue("id").(string)
	if a.List.Get(lab) == nil {
		lab = ""
	}
	a.Denials(status, kind, id, lab, r.ip())
}
