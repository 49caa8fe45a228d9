package config

import (
	"net/url"

	"atelier/transport/auth/oidc"
)

// Login is the configuration section of sign-in for facilitators and assistants other than the
// owner.
type Login struct {
	Issuer       string   `toml:"oidc_issuer" doc:"Address of an OpenID Connect provider for sign-in, for example https://login.example.org. Needs server.public_url. Empty: none."`
	ClientID     string   `toml:"oidc_client_id" doc:"Client id of this server at the provider. Register the callback <public_url>/api/login/oidc/callback."`
	ClientSecret Secret   `toml:"oidc_client_secret" doc:"Client secret. Empty for a public client; PKCE is always used."`
	Allowed      []string `toml:"oidc_allowed" doc:"Verified e-mail addresses that can sign in: a domain as *@example.org, or one address. Empty: none."`
	Role         string   `toml:"oidc_role" one:"facilitator|assistant" doc:"Role at the first sign-in: facilitator, or assistant (without codelabs until a facilitator assigns some)."`
	Label        string   `toml:"oidc_label" doc:"Label of the sign-in button."`
	TrustEmail   bool     `toml:"oidc_trust_email" doc:"Accept e-mail addresses that the provider has not marked as verified. Use it only where people cannot choose their address."`
	Password     bool     `toml:"password_login" doc:"Allow passwords for everybody. false: only the owner has one."`
}

func defaultLogin() Login {
	return Login{Allowed: []string{}, Role: "facilitator", Label: "Sign in with your organization", Password: true}
}

func (l *Login) check(publicURL string, bad, warn func(string, ...any)) {
	if l.Issuer == "" {
		if !l.Password {
			bad("login.password_login is false and login.oidc_issuer is empty: nobody but the owner could sign in")
		}
		return
	}
	u, err := url.Parse(l.Issuer)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		bad("login.oidc_issuer must be https://, a host and a path, and nothing else")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		bad("login.oidc_issuer must be https://: anybody on the network path could sign in as anybody else")
	}
	if publicURL == "" {
		bad("login.oidc_issuer needs server.public_url: the provider sends browsers back there")
	}
	if l.ClientID == "" {
		bad("login.oidc_issuer needs login.oidc_client_id")
	}
	if l.Label == "" || len(l.Label) > 80 {
		bad("login.oidc_label must have 1 to 80 bytes")
	}
	for _, rule := range l.Allowed {
		if !oidc.CheckRule(rule) {
			bad("login.oidc_allowed: %q is neither a domain like *@example.org nor an address", rule)
		}
	}
	if len(l.Allowed) == 0 {
		warn("login.oidc_allowed is empty: nobody can sign in at the provider")
	}
	if l.TrustEmail {
		warn("login.oidc_trust_email: people who can choose their address at the provider can sign in as others")
	}
}
