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

// Config of a Provider. All fields but ClientSecret and TrustEmail are required.
type Config struct {
	// Issuer is the provider's address, as its discovery document has it.
	Issuer                 string
	ClientID, ClientSecret string
	// Redirect is the address of the callback.
	Redirect string
	// Allowed are addresses, and domains as *@example.org. None: nobody.
	Allowed []string
	// TrustEmail takes addresses that the provider has not verified.
	TrustEmail bool
	Now        func() time.Time
}

// Bounds on requests to the provider.
const (
	// Life is the time limit for signing in.
	Life = 10 * time.Minute
	// fresh is how long a discovery document counts; its keys are read again when
	// a token names one that is not known.
	fresh = time.Hour
	// pause is how long a provider that did not answer is left alone.
	pause = 5 * time.Second
	// atOnce bounds the concurrent requests to the provider, and eachAtOnce those of one
	// address. Browsers with an earlier login of a facilitator have knownAtOnce places in
	// addition.
	atOnce, eachAtOnce, knownAtOnce = 16, 2, 8
	// maxUsed is how many sign-ins that came back are remembered.
	maxUsed = 20_000
)

// Reason is why somebody cannot sign in. It contains no text from the provider. The app has a
// sentence for each Reason.
type Reason string

// The reasons.
const (
	// Away: the provider does not answer, or answers incorrectly.
	Away Reason = "away"
	// Busy: too many people are signing in at once.
	Busy Reason = "busy"
	// Expired: it took too long, was begun in another browser, or came back before.
	Expired Reason = "expired"
	// Denied: the provider refused.
	Denied Reason = "denied"
	// Invalid: the provider's claims about the person do not verify.
	Invalid Reason = "invalid"
	// Unverified: the provider has not verified the address, or sends none.
	Unverified Reason = "unverified"
	// NotAllowed: the address is not among those that may sign in.
	NotAllowed Reason = "not_allowed"
)

// Error implements error.
func (r Reason) Error() string { return "signing in with the identity provider: " + string(r) }

// Provider is one identity provider. Safe for concurrent use.
type Provider struct {
	cfg Config
	// Of sign-ins that the provider is asked about; and of those that wait for the first
	// discovery, without which nobody signs in.
	strangers, known, early *httpapi.Places
	asking                  chan struct{} // held while the discovery document is fetched

	mu    sync.Mutex
	found *found    // guarded by mu; nil before the first discovery
	tried time.Time // guarded by mu; when discovery failed last

	usedMu sync.Mutex
	used   map[string]time.Time // guarded by usedMu; states that came back, and until when they count
}

// found has the results of discovery.
type found struct {
	at       time.Time
	provider *oidc.Provider
	style    oauth2.AuthStyle
	verifier *oidc.IDTokenVerifier
	// names: the provider says of each answer that it is its own (RFC 9207).
	names bool
}

// New returns a Provider. It asks nothing yet: the server starts while the provider is
// away.
func New(cfg Config) *Provider {
	return &Provider{
		cfg: cfg, strangers: httpapi.NewPlaces(atOnce, eachAtOnce), known: httpapi.NewPlaces(knownAtOnce, eachAtOnce),
		early:  httpapi.NewPlaces(atOnce, atOnce),
		asking: make(chan struct{}, 1), used: map[string]time.Time{},
	}
}

// Issuer is the provider's address.
func (p *Provider) Issuer() string { return p.cfg.Issuer }

// state returns the results so far, nil for none; old says that it should be asked for
// again, and paused that this failed a moment ago.
func (p *Provider) state() (f *found, old, paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	return p.found, p.found == nil || now.Sub(p.found.at) >= fresh, !p.tried.IsZero() && now.Sub(p.tried) < pause
}

// discover returns the provider's document. An old one is used while a caller fetches it
// again; without one, callers wait for the fetch of one of them.
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

// ErrPaused means that the provider did not answer, and is not asked for a moment.
var ErrPaused = errors.New("the identity provider did not answer a moment ago")

// learn asks the provider, and keeps the answer, or that there was none.
func (p *Provider) learn(ctx context.Context) error {
	f, err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now() // the answer may have taken longer than the pause
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
	// No weaker than the issuer: anybody on the network path could be the provider.
	https := strings.HasPrefix(p.cfg.Issuer, "https:")
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "https" && (https || u.Scheme != "http") {
			return nil, errors.New("discovery: an address of the provider is not one to trust")
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

// Attempt is the data that a browser keeps while its person signs in at the provider. It is kept
// signed.
type Attempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	// To is the path that it leads to afterwards.
	To string `json:"t"`
	// Device identifies a browser with an earlier login of a facilitator, "" for others. It
	// is kept here because a browser that returns from another site does not send
	// SameSite=Strict cookies.
	Device string `json:"d,omitempty"`
}

// Caller has the address and the browser of a person who signs in.
type Caller struct {
	// Address limits those of one network.
	Address string
	// Device identifies a browser with an earlier login of a facilitator.
	Device string
	// Charge is asked before the provider is asked about a code; false refuses it as
	// Busy. nil: it is free.
	Charge func() bool
}

// enter takes a place of those for the caller.
func (p *Provider) enter(c Caller) (leave func(), ok bool) {
	if c.Device != "" {
		return p.known.Enter(c.Device)
	}
	return p.strangers.Enter(httpapi.Address(c.Address))
}

// Begin returns where the browser goes to sign in, and what it keeps meanwhile. Where the
// provider is known nobody waits for it.
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

// Path returns to if it is a path of this server, and else otherwise. A text that browsers
// would understand as the address of another server is not such a path.
func Path(to, otherwise string) string {
	bad := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`\"<>`, r) }
	if len(to) > 256 || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsFunc(to, bad) {
		return otherwise
	}
	return to
}

// once reports whether nobody has signed in with an attempt before, and remembers that
// somebody has now. Only what the provider has proved gets here, so that strangers fill
// no list.
func (p *Provider) once(state string) bool {
	p.usedMu.Lock()
	defer p.usedMu.Unlock()
	now := p.cfg.Now()
	if _, there := p.used[state]; there {
		return false
	}
	if len(p.used) >= maxUsed {
		for s, until := range p.used {
			if until.Before(now) {
				delete(p.used, s)
			}
		}
		if len(p.used) >= maxUsed { // more than a person could: those who come now wait
			return false
		}
	}
	p.used[state] = now.Add(Life)
	return true
}
