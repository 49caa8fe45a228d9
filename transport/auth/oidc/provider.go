package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"atelier/transport/auth"
	"atelier/transport/httpapi"
)

// Config configures a Provider. All fields except ClientSecret and TrustEmail are required.
type Config struct {
	// Issuer is the provider's address in its discovery document.
	Issuer                 string
	ClientID, ClientSecret string
	// Redirect is the address of the callback.
	Redirect string
	// Allowed lists permitted addresses, and permitted domains in the form *@example.org. If it is
	// empty, nobody can sign in.
	Allowed []string
	// TrustEmail accepts addresses that the provider has not verified.
	TrustEmail bool
	Now        func() time.Time
}

// Bounds on requests to the provider.
const (
	// Life is the time limit for signing in.
	Life = 10 * time.Minute
	// fresh is the lifetime of a discovery document. The provider's keys have a lifetime of their
	// own, see keySet.
	fresh = time.Hour
	// pause is the time without a new discovery after one has failed.
	pause = 5 * time.Second
	// atOnce bounds the concurrent sign-ins that send requests to the provider. Browsers with an
	// earlier login have knownAtOnce additional places. eachAtOnce bounds the sign-ins per network
	// address, or per browser with an earlier login.
	atOnce, eachAtOnce, knownAtOnce = 16, 2, 8
	// maxUsed bounds the stored records of completed sign-ins.
	maxUsed = 20_000
)

// Reason is why somebody cannot sign in. It contains no text from the provider. The app has a
// sentence for each Reason.
type Reason string

// Reasons.
const (
	// Away: the provider does not answer, or answers incorrectly.
	Away Reason = "away"
	// Busy: too many people are signing in concurrently, or the caller has no attempts left.
	Busy Reason = "busy"
	// Expired: the sign-in took too long, was begun in another browser, or was already completed.
	// Finish also returns it while maxUsed sign-ins are recorded.
	Expired Reason = "expired"
	// Denied: the provider sent an error or no code.
	Denied Reason = "denied"
	// Invalid: the provider refused the code, or its response or token does not verify.
	Invalid Reason = "invalid"
	// Unverified: the provider has not verified the address, or sends no valid address.
	Unverified Reason = "unverified"
	// NotAllowed: the address is not permitted to sign in.
	NotAllowed Reason = "not_allowed"
)

// Error implements error.
func (r Reason) Error() string { return "signing in with the identity provider: " + string(r) }

// Provider is one identity provider. It is safe for concurrent use.
type Provider struct {
	cfg Config
	// Places for sign-ins that send requests to the provider. early is for sign-ins that wait for
	// the first discovery, without which nobody can sign in.
	strangers, known, early *httpapi.Places
	asking                  chan struct{} // held while the discovery document is fetched

	mu    sync.Mutex
	found *found    // guarded by mu; nil until the first discovery
	tried time.Time // guarded by mu; when discovery last failed

	usedMu sync.Mutex
	used   map[string]time.Time // guarded by usedMu; completed states and their expiry
}

// found contains the results of discovery.
type found struct {
	at       time.Time
	provider *oidc.Provider
	style    oauth2.AuthStyle
	verifier *oidc.IDTokenVerifier
	// names is true if the provider states its issuer in each response (RFC 9207).
	names bool
}

// New returns a Provider. It sends no requests yet, so the server starts even if the provider is
// unavailable.
func New(cfg Config) *Provider {
	return &Provider{
		cfg: cfg, strangers: httpapi.NewPlaces(atOnce, eachAtOnce), known: httpapi.NewPlaces(knownAtOnce, eachAtOnce),
		early:  httpapi.NewPlaces(atOnce, atOnce),
		asking: make(chan struct{}, 1), used: map[string]time.Time{},
	}
}

// Issuer returns the provider's address.
func (p *Provider) Issuer() string { return p.cfg.Issuer }

// state returns the results of the last discovery, or nil before the first. old means that the
// results should be refreshed. paused means that a discovery failed less than pause ago.
func (p *Provider) state() (f *found, old, paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	return p.found, p.found == nil || now.Sub(p.found.at) >= fresh, !p.tried.IsZero() && now.Sub(p.tried) < pause
}

// discover returns the results of discovery. Old results are used while they are refreshed in the
// background; before the first results, callers wait for one shared fetch.
func (p *Provider) discover(ctx context.Context) (*found, error) {
	f, old, paused := p.state()
	switch {
	case !old:
		return f, nil
	case f != nil:
		select {
		case p.asking <- struct{}{}:
			go func() {
				defer func() { <-p.asking }()
				if !paused {
					_ = p.learn(context.Background()) // bounded by the client
				}
			}()
		default:
		}
		return f, nil
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if f, _, paused = p.state(); f != nil {
		return f, nil
	}
	if paused {
		return nil, ErrPaused
	}
	if err := p.learn(ctx); err != nil {
		return nil, err
	}
	f, _, _ = p.state()
	return f, nil
}

// ErrPaused means that the provider did not answer a moment ago and does not receive further
// requests yet.
var ErrPaused = errors.New("the identity provider did not answer a moment ago")

// learn fetches the discovery document, and records the result or the failure.
func (p *Provider) learn(ctx context.Context) error {
	f, err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now() // after the answer, which can take longer than the pause
	if err != nil {
		p.tried = now
		return err
	}
	f.at = now
	p.found, p.tried = f, time.Time{}
	return nil
}

func (p *Provider) ask(ctx context.Context) (*found, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, client), p.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	var more struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Keys    string   `json:"jwks_uri"`
		Signed  []string `json:"id_token_signing_alg_values_supported"`
		Names   bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&more); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	addresses := []string{provider.Endpoint().AuthURL, provider.Endpoint().TokenURL, more.Keys}
	if info := provider.UserInfoEndpoint(); info != "" {
		addresses = append(addresses, info)
	}
	// Endpoints must be as secure as the issuer: otherwise anybody on the network path could
	// impersonate the provider.
	https := strings.HasPrefix(p.cfg.Issuer, "https:")
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "https" && (https || u.Scheme != "http") {
			return nil, errors.New("discovery: an address of the provider is invalid or not secure")
		}
	}
	f := &found{provider: provider, style: oauth2.AuthStyleInHeader, names: more.Names}
	f.verifier = oidc.NewVerifier(p.cfg.Issuer, &keySet{address: more.Keys, now: p.cfg.Now}, &oidc.Config{
		ClientID: p.cfg.ClientID, Now: p.cfg.Now, SupportedSigningAlgs: accepted(more.Signed),
	})
	basic := len(more.Methods) == 0 || slices.Contains(more.Methods, "client_secret_basic")
	if p.cfg.ClientSecret == "" || !basic {
		f.style = oauth2.AuthStyleInParams
	}
	return f, nil
}

func (p *Provider) oauth(f *found) *oauth2.Config {
	endpoint := f.provider.Endpoint()
	endpoint.AuthStyle = f.style
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: endpoint, RedirectURL: p.cfg.Redirect,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// Attempt is the signed data that a browser keeps while its person signs in at the provider.
type Attempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	// To is the path to open afterwards.
	To string `json:"t"`
	// Device identifies a browser with an earlier login; "" for other browsers. It is stored here
	// because a browser that returns from another site does not send SameSite=Strict cookies.
	Device string `json:"d,omitempty"`
}

// Caller identifies the network address and the browser of a person who signs in.
type Caller struct {
	// Address identifies the network for limits.
	Address string
	// Device identifies a browser with an earlier login.
	Device string
	// Charge is called before the provider checks a code. If it returns false, the code is refused
	// as Busy. nil means no limit.
	Charge func() bool
}

// enter takes one of the caller's places.
func (p *Provider) enter(c Caller) (leave func(), ok bool) {
	if c.Device != "" {
		return p.known.Enter(c.Device)
	}
	return p.strangers.Enter(httpapi.Address(c.Address))
}

// Begin returns the address at which the browser signs in, and the state that the browser keeps
// meanwhile. Begin does not wait if the provider's document is known. Its error is Busy, or wraps
// Away.
func (p *Provider) Begin(ctx context.Context, to string, from Caller) (address string, a Attempt, err error) {
	if f, _, _ := p.state(); f == nil {
		leave, ok := p.early.Enter("")
		if !ok {
			return "", Attempt{}, Busy
		}
		defer leave()
	}
	f, err := p.discover(ctx)
	if err != nil {
		return "", Attempt{}, fmt.Errorf("%w: %w", Away, err)
	}
	a = Attempt{State: auth.Random(16), Nonce: auth.Random(16), Verifier: oauth2.GenerateVerifier(), To: to, Device: from.Device}
	return p.oauth(f).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a, nil
}

// Path returns its first argument if that is a path of this server, and fallback if not. A text
// that browsers would interpret as another server's address is not a path of this server.
func Path(to, fallback string) string {
	bad := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`\"<>`, r) }
	if len(to) > 256 || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsFunc(to, bad) {
		return fallback
	}
	return to
}

// once records a completed attempt. It returns Expired if the attempt was already completed, and
// Busy while the list of completed attempts is full. It is called only after the provider has
// verified the attempt, so that strangers cannot fill the list.
func (p *Provider) once(state string) error {
	p.usedMu.Lock()
	defer p.usedMu.Unlock()
	now := p.cfg.Now()
	if _, there := p.used[state]; there {
		return Expired
	}
	if len(p.used) >= maxUsed {
		for s, until := range p.used {
			if until.Before(now) {
				delete(p.used, s)
			}
		}
		if len(p.used) >= maxUsed { // more attempts than people could complete, so further attempts must wait
			return Busy
		}
	}
	p.used[state] = now.Add(Life)
	return nil
}
