package oidc

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Identity is a person whom the provider has authenticated.
type Identity struct {
	// Issuer and Subject identify the person, even if everything else changes.
	Issuer, Subject string
	// Email is permitted and in lower case. It is verified, unless Config.TrustEmail is set. Name
	// is the name that the provider returned, or "".
	Email, Name string
}

// Answer is the provider's response, delivered by the browser.
type Answer struct {
	State, Code, Error string
	// Issuer is the response's issuer, or "" if the response does not contain it (RFC 9207).
	Issuer string
}

// Finish identifies the person who has signed in. Its error is a Reason, or wraps a Reason and the
// cause for the log.
func (p *Provider) Finish(ctx context.Context, a Attempt, in Answer, from Caller) (Identity, error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(in.State)) != 1 {
		return Identity{}, Expired
	}
	if in.Issuer != "" && in.Issuer != p.cfg.Issuer {
		return Identity{}, fmt.Errorf("%w: another provider answers", Invalid)
	}
	if in.Error != "" || in.Code == "" {
		return Identity{}, Denied
	}
	from.Device = a.Device
	leave, ok := p.enter(from)
	if !ok {
		return Identity{}, Busy
	}
	defer leave()
	f, err := p.discover(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", Away, err)
	}
	if f.names && in.Issuer == "" {
		return Identity{}, fmt.Errorf("%w: the answer lacks the issuer that the provider announces", Invalid)
	}
	if from.Charge != nil && !from.Charge() {
		return Identity{}, Busy
	}
	ctx = oidc.ClientContext(ctx, client)
	token, err := p.oauth(f).Exchange(ctx, in.Code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return Identity{}, exchangeFailed(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if len(raw) > maxToken { // verifying a longer signature would take seconds
		return Identity{}, fmt.Errorf("%w: the token is too long", Invalid)
	}
	id, err := f.verifier.Verify(ctx, raw)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", Invalid, err)
	}
	c, err := claimsOf(id)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", Invalid, err)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1:
		return Identity{}, fmt.Errorf("%w: the token is for another sign-in", Invalid)
	case c.party != "" && c.party != p.cfg.ClientID, len(id.Audience) > 1 && c.party == "":
		return Identity{}, fmt.Errorf("%w: the token is for another client", Invalid)
	case id.Subject == "" || len(id.Subject) > 255:
		return Identity{}, fmt.Errorf("%w: the token has no valid subject", Invalid)
	}
	if c.email == "" { // some providers return the address only as userinfo
		c.merge(ctx, f.provider, token, id.Subject)
	}
	email, err := p.admit(c)
	if err != nil {
		return Identity{}, err
	}
	if err := p.once(a.State); err != nil {
		return Identity{}, err
	}
	return Identity{Issuer: p.cfg.Issuer, Subject: id.Subject, Email: email, Name: c.name}, nil
}

// maxToken bounds an ID token, in bytes.
const maxToken = 16 << 10

// exchangeFailed keeps only the status and the standard error code of a refusal. The rest of the
// response is not trusted.
func exchangeFailed(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return fmt.Errorf("%w: %w", Away, err)
	}
	word := refused.ErrorCode
	if len(word) > 40 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") != "" {
		word = ""
	}
	return fmt.Errorf("%w: the provider refuses the code (%d %s)", Invalid, refused.Response.StatusCode, word)
}

// claims contains the claims that a token can lack.
type claims struct {
	email, name, party string
	// verified is set only by the boolean true.
	verified bool
}

// claimsOf decodes claims by their exact names. encoding/json would also accept names that differ
// in case, and people can add claims with such names at some providers.
func claimsOf(from interface{ Claims(any) error }) (c claims, err error) {
	var all map[string]json.RawMessage
	if err := from.Claims(&all); err != nil {
		return claims{}, err
	}
	for name, to := range map[string]any{"email": &c.email, "name": &c.name, "azp": &c.party, "email_verified": &c.verified} {
		_ = json.Unmarshal(all[name], to) // values of other types are ignored
	}
	return c, nil
}

// merge fills gaps of the ID token from the userinfo of the same person. Without the userinfo, the
// person has no address.
func (c *claims) merge(ctx context.Context, provider *oidc.Provider, token *oauth2.Token, subject string) {
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil || info.Subject != subject {
		return
	}
	more, err := claimsOf(info)
	if err != nil {
		return
	}
	c.email, c.verified = more.email, more.verified
	if c.name == "" {
		c.name = more.name
	}
}

// admit returns the person's address if the address is allowed, and verified or trusted.
func (p *Provider) admit(c claims) (string, error) {
	email, ok := fold(c.email)
	switch {
	case !ok || !c.verified && !p.cfg.TrustEmail:
		return "", Unverified
	case !slices.ContainsFunc(p.cfg.Allowed, func(rule string) bool { return allows(rule, email) }):
		return "", NotAllowed
	}
	return email, nil
}

// fold converts an address to lower case for comparison. It accepts only ASCII: the lower case of
// some other characters is an ASCII letter, so the result could be somebody else's address.
func fold(email string) (string, bool) {
	at := strings.IndexByte(email, '@')
	if at < 1 || at == len(email)-1 || strings.Count(email, "@") != 1 {
		return "", false
	}
	if strings.ContainsFunc(email, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", false
	}
	return strings.ToLower(email), true
}

// allows reports whether a rule matches an address.
func allows(rule, email string) bool {
	rule = strings.ToLower(rule)
	if domain, ok := strings.CutPrefix(rule, "*"); ok {
		return strings.HasSuffix(email, domain)
	}
	return rule == email
}

// CheckRule reports whether a rule of Config.Allowed is valid.
func CheckRule(rule string) bool {
	_, ok := fold(rule)
	return ok && (!strings.Contains(rule, "*") || strings.HasPrefix(rule, "*@") && strings.Count(rule, "*") == 1)
}
