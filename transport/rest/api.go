package rest

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/audit"
	"atelier/actors/catalog"
	"atelier/actors/code"
	"atelier/actors/codelab"
	"atelier/actors/files"
	"atelier/actors/login"
	"atelier/actors/participant"
	"atelier/actors/people"
	"atelier/actors/settings"
	"atelier/actors/webhook"
	"atelier/transport/ai/keys"
	"atelier/transport/auth"
	"atelier/transport/git"
	"atelier/transport/httpapi"
	webhooks "atelier/transport/webhook"
	"atelier/transport/wire"
)

// Config configures the API. All fields are required unless stated otherwise.
type Config struct {
	Codelabs codelab.Directory
	List     *catalog.List
	Audit    *audit.Trail
	Files    *files.Register
	Settings *settings.Host
	// Participants contains the tokenization handler's participants.
	Participants *participant.Host
	// People contains the facilitators and assistants. Passwords computes their password hashes.
	People    *people.Host
	Passwords *auth.PasswordComputer
	// SignIn is the identity provider for signing in, or nil for none. OwnerPassword means that
	// only the owner has a password.
	SignIn        *SignIn
	OwnerPassword bool
	Auth          *auth.Authenticator
	Limits        Limits
	// Others are operations that are not resources, such as live connections and AI answers.
	Others []Operation
	// AIModels are the permitted AI models. AIKeys decrypts the API keys for them.
	AIModels AIModels
	AIKeys   *keys.Ring
	// The webhooks, and the sender of their deliveries.
	Webhooks      *webhook.Webhooks
	WebhookSender *webhooks.Sender
	// Workspaces stores the code of codelabs.
	Workspaces code.Store
	// Health returns the server's health, within about a second.
	Health func() Health
	// Denials records refused requests for the audit trail. It can be nil.
	Denials func(status int, actorType, actorID, codelab, ip string)
	// SignInFailed records failed sign-ins with the identity provider, which anybody can cause, for
	// the audit trail. It can be nil.
	SignInFailed func(why, ip string)
	// Current returns an error while this node cannot determine permissions. With now, all grants
	// up to now are included; otherwise the most recent ones can be missing. token selects API
	// tokens instead of sessions. Current is nil on a single server, because its data is always
	// current.
	Current func(now, token bool) error
	// Valid and Bodies are passed to httpapi. Both can be nil.
	Valid  func() error
	Bodies *wire.BodyBudget
	// Observe is called for each response. It can be nil.
	Observe func(operation string, status int, took time.Duration)
	// LoginFailed is called for each failed login. It can be nil.
	LoginFailed func()

	App     AppInfo
	Origins httpapi.Origins
	AdminID string
	// StreamID identifies the epoch of the store. It is part of entity tags.
	StreamID string
	// SecureCookies means that browsers reach the server over https.
	SecureCookies bool
	// Framing means that other sites are allowed to show attendees' pages in frames. Sessions that
	// begin in a frame get cookies that browsers also send from frames.
	Framing bool
	// CodelabsDays is the number of days that codelabs are stored after their workshops end; 0
	// means forever.
	CodelabsDays int
	// TrustedProxies are the proxies whose X-Forwarded-For is trusted.
	TrustedProxies []netip.Prefix
	Logger         *slog.Logger
	Now            func() time.Time
	// TimeOf returns the current time of the node that owns a codelab.
	TimeOf func(codelab.Codelab) time.Time
}

// Limits contains the API's rate limits (RULES.md, "Limits"). A nil limiter allows everything.
type Limits struct {
	Reads, Writes, Uploads, Images, WrongPINs *httpapi.Limiter
	// Registrations limits registrations per codelab. RegistrationsFrom limits them per address.
	Registrations, RegistrationsFrom *httpapi.Limiter
	// Joins limits look-ups of join codes and invitations, and sign-ins with the identity provider,
	// per address.
	Joins *httpapi.Limiter
	// Questions limits each attendee's questions to everybody.
	Questions *httpapi.Limiter
	// Git limits requests of Git clients per person.
	Git *httpapi.Limiter
	// Checks limits reports of checks per secret.
	Checks *httpapi.Limiter
}

// Forget drops state that the limiters no longer need.
func (l *Limits) Forget() {
	for _, limiter := range []*httpapi.Limiter{l.Reads, l.Writes, l.Uploads, l.Images, l.WrongPINs, l.Registrations, l.RegistrationsFrom, l.Joins, l.Questions, l.Git, l.Checks} {
		limiter.Forget()
	}
}

// API serves the REST API. It is safe for concurrent use.
type API struct {
	Config
	way *httpapi.API
	// unpacking is a semaphore for unpacking code archives.
	unpacking chan struct{}
	// pushing is a semaphore for unpacking pushes.
	pushing chan struct{}
	// packs builds the packs for Git clients.
	packs *git.Packs
	shown shownRepositories
	// asking contains the ids of attendees who have a question in progress.
	asking sync.Map
}

// New returns the API.
func New(cfg Config) *API {
	a := &API{Config: cfg, unpacking: make(chan struct{}, maxUnpacking), pushing: make(chan struct{}, maxPushing)}
	if a.Observe == nil {
		a.Observe = func(string, int, time.Duration) {}
	}
	a.packs = git.NewPacks(cfg.Workspaces.Scratch)
	a.way = httpapi.New(httpapi.Config{
		Endpoints: a.endpoints(), Drain: drainBytes, Valid: cfg.Valid, Bodies: cfg.Bodies, Origins: cfg.Origins, Logger: cfg.Logger, Now: cfg.Now,
		Stray: func(r *httpapi.Exchange) httpapi.Call { return &Request{Exchange: r, api: a} },
	})
	return a
}

// endpoints converts all operations for httpapi.
func (a *API) endpoints() (out []httpapi.Endpoint) {
	for _, op := range slices.Concat(operations, a.Others) {
		path := op.Path
		if !op.Root {
			path = "/api" + path
		}
		out = append(out, httpapi.Endpoint{
			Method: op.Method, Path: path, Name: op.Method + " " + op.Path, Body: op.body(), File: op.File, Open: op.open(), Gzip: op.Basic,
			Begin: func(r *httpapi.Exchange) httpapi.Call { return &Request{Exchange: r, api: a, op: &op} },
		})
	}
	return out
}

// Routes returns the paths of all operations, with {name} for a parameter.
func (a *API) Routes() (out []string) {
	for _, e := range a.way.Endpoints {
		out = append(out, e.Path)
	}
	return out
}

// Handler serves paths under /api, /uploads and /git.
func (a *API) Handler(ctx *fasthttp.RequestCtx) { a.way.Handler(ctx) }

// operator is the key that marks requests from the socket in the data folder.
type operator struct{}

// Operator serves the same paths to this program's commands, over a socket in the data folder. The
// commands act as an admin without a login, and their requests have no rate limit.
func (a *API) Operator(ctx *fasthttp.RequestCtx) {
	ctx.SetUserValue(operator{}, true)
	a.way.Handler(ctx)
}

// Expect checks the header of a request; see httpapi.API.Expect.
func (a *API) Expect(ctx *fasthttp.RequestCtx) int { return a.way.Expect(ctx) }

// ClientIP returns the client's address, or "" for a request from the socket in the data folder.
// X-Forwarded-For is read only if it comes from a trusted proxy. The client is then the last
// address in it that does not belong to a trusted proxy. Without such an address, ClientIP returns
// the address of the farthest trusted proxy.
func (a *API) ClientIP(ctx *fasthttp.RequestCtx) string {
	if ctx.UserValue(operator{}) != nil {
		return ""
	}
	ip := addrOf(ctx.RemoteAddr())
	if !a.Trusted(ip) {
		return ip.String()
	}
	// Several header lines count as one list, because some proxies add a line.
	forwarded := string(bytes.Join(ctx.Request.Header.PeekAll("X-Forwarded-For"), []byte{','}))
	for end := len(forwarded); end > 0; {
		start := end
		for start > 0 && forwarded[start-1] != ',' {
			start--
		}
		hop, ok := hopOf(strings.Trim(forwarded[start:end], " "))
		if !ok {
			break
		}
		// A zone identifies a network interface of the proxy, and has no meaning here.
		if ip = hop.WithZone("").Unmap(); !a.Trusted(ip) {
			break
		}
		end = start - 1
	}
	return ip.String()
}

// hopOf parses an address in X-Forwarded-For. Some proxies add the port.
func hopOf(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")); err == nil {
		return a, true
	}
	a, err := netip.ParseAddrPort(s)
	return a.Addr(), err == nil
}

// Trusted reports whether an address belongs to a trusted proxy.
func (a *API) Trusted(ip netip.Addr) bool {
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

// denied records a refusal.
func (a *API) denied(r *Request, status int) {
	if a.Denials == nil {
		return
	}
	lab, _ := r.UserValue("id").(string)
	kind, id := "anonymous", ""
	switch {
	case r.who.Rank() != auth.NoRank:
		kind, id = "admin", r.actorID()
	case r.who.Known():
		kind = "attendee"
		r.who.Grants(func(g *login.AttendeeGrant) {
			if id == "" || g.Codelab == lab {
				id = g.AttendeeID
			}
		})
	}
	if m, err := a.List.Get(lab); m == nil || err != nil { // only ids of existing codelabs are recorded
		lab = ""
	}
	a.Denials(status, kind, id, lab, r.ip())
}
