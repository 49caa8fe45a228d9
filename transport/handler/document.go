package handler

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"

	"atelier/actors/participant"
	"atelier/actors/token"
	"atelier/actors/token/credential"
)

// Document contains the statements of the specification document that do not follow from the rest
// of the configuration (commerce protocol, Tokenization resources).
type Document struct {
	// Name is the handler's reverse-domain name.
	Name string
	// PublicURL is the server's address. With "" the address of the request is used.
	PublicURL string
	// Onboarding is the page about becoming a participant.
	Onboarding string
	// AcknowledgementVersion and AcknowledgementText state the security duties that recipients of
	// credentials accept.
	AcknowledgementVersion, AcknowledgementText string
	// SessionCap, MaxMismatches and DropSensitive are published for participants.
	SessionCap    time.Duration
	MaxMismatches int
	DropSensitive bool
}

// specification is the served document.
type specification struct {
	Name            string               `json:"name" doc:"The handler's reverse-domain name."`
	Environment     string               `json:"environment" enum:"production|sandbox"`
	BaseURLs        baseURLs             `json:"base_urls" doc:"The addresses of the interface, by environment."`
	Operations      []operationText      `json:"operations"`
	Authentication  []authenticationText `json:"authentication"`
	Onboarding      string               `json:"onboarding" doc:"The page about becoming a participant."`
	Credentials     []credentialText     `json:"accepted_credentials"`
	Lifecycle       lifecycleText        `json:"lifecycle"`
	Acknowledgement acknowledgementText  `json:"acknowledgement" doc:"The security duties that recipients of credentials accept."`
	Encryption      encryptionText       `json:"encrypted_credentials" doc:"How to send encrypted credentials without tokens."`
	Errors          []errorText          `json:"errors"`
	OpenAPI         string               `json:"openapi" doc:"The address of this description."`
}

type baseURLs struct {
	Production string `json:"production"`
	Sandbox    string `json:"sandbox"`
}

type operationText struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	URL    string `json:"url"`
	Scope  string `json:"scope,omitempty" doc:"The scope that the bearer needs. Omitted if none is needed."`
	About  string `json:"description"`
}

type authenticationText struct {
	Type     string            `json:"type"`
	About    string            `json:"description"`
	TokenURL string            `json:"token_url,omitempty" doc:"The address that issues access tokens."`
	Scopes   map[string]string `json:"scopes,omitempty" doc:"The permissions of each scope."`
}

type credentialText struct {
	Type        string   `json:"type"`
	NumberTypes []string `json:"card_number_types,omitempty"`
	Becomes     string   `json:"checkout_credential" doc:"The type of the credential that the checkout contains instead."`
	About       string   `json:"description"`
}

type lifecycleText struct {
	DefaultPolicy string            `json:"default_policy"`
	TTLSeconds    int               `json:"ttl_seconds" range:"any"`
	CapSeconds    int               `json:"session_cap_seconds" range:"any"`
	Mismatches    int               `json:"mismatches_before_lock" range:"any"`
	DropSensitive bool              `json:"drop_sensitive_after_first_use"`
	Policies      map[string]string `json:"policies" doc:"The meaning of each policy."`
}

type acknowledgementText struct {
	RequiredFor string `json:"required_for"`
	Text        string `json:"text"`
	Version     string `json:"version"`
}

type encryptionText struct {
	About  string `json:"description"`
	KeyURL string `json:"key_url"`
}

type errorText struct {
	Status int    `json:"status" range:"any"`
	Code   string `json:"code"`
	About  string `json:"description"`
}

// specify describes the base, at the server address root.
func (b *base) specify(root string) specification {
	d, here := b.Document, root+b.path
	s := specification{
		Name: d.Name, Environment: b.environment, Onboarding: d.Onboarding,
		BaseURLs: baseURLs{Production: root + b.bases[0].path, Sandbox: root + b.bases[1].path},
		Acknowledgement: acknowledgementText{
			RequiredFor: "detokenize, publishing and removing an encryption key, and introspect and revoke on behalf of another participant",
			Text:        d.AcknowledgementText, Version: d.AcknowledgementVersion,
		},
		Encryption: encryptionText{
			About:  "Instead of tokenizing, a platform can encrypt to the key that a business published (JWE; ECDH-ES+A256KW or RSA-OAEP-256 with A256GCM). The payload is {checkout_id, credential}, and the business refuses a payload for another checkout.",
			KeyURL: here + "/keys/{identity}",
		},
		OpenAPI: here + "/openapi.json",
		Authentication: []authenticationText{
			{Type: "api_key", About: "Authorization: Bearer with the secret of an API key."},
			{Type: "oauth2_client_credentials", TokenURL: here + "/oauth/token",
				About:  "client_id is the participant's id, client_secret the secret of one of its keys; the access token is valid for 600 seconds.",
				Scopes: map[string]string{participant.ScopeTokenize: "make tokens", participant.ScopeDetokenize: "read, introspect and revoke tokens, end sessions, publish and remove the encryption key"}},
		},
		Lifecycle: lifecycleText{
			DefaultPolicy: b.DefaultPolicy, TTLSeconds: int(b.DefaultLife.Seconds()), CapSeconds: int(d.SessionCap.Seconds()),
			Mismatches: d.MaxMismatches, DropSensitive: d.DropSensitive,
			Policies: map[string]string{},
		},
		Errors: errorTable,
	}
	for _, p := range token.Policies() {
		s.Lifecycle.Policies[p.Name] = p.About
	}
	for _, op := range b.operations {
		if op.Line != "" {
			s.Operations = append(s.Operations, operationText{op.Method, op.Path, here + op.Path, op.Scope, op.Line})
		}
	}
	s.Credentials = []credentialText{
		{"card", credential.NumberTypes, "token", "Number, expiry_month and expiry_year are required; cvc, name, cryptogram and eci_value are optional."},
		{"pan", nil, "token", "Number, expiry_month and expiry_year are required."},
		{"network_token", nil, "token", "Number, expiry_month, expiry_year and cryptogram are required."},
	}
	for _, t := range b.Credentials.Opaque {
		s.Credentials = append(s.Credentials, credentialText{t, nil, "token", "Kept as it is, up to 16 KiB."})
	}
	return s
}

// errorTable contains the meaning of each code and the advice for it (RULES.md, "Refusals"). Not in
// the table are method_not_allowed, and not_found for an unknown path or an unpublished key.
var errorTable = []errorText{
	{400, "invalid_request", "The body is malformed or a field is missing or of the wrong type (413: too large, 415: not JSON). Correct the request."},
	{401, "unauthorized", "No valid bearer token. Check the key, or get a new access token."},
	{403, "insufficient_scope", "The participant does not have the scope. Ask the operator."},
	{403, "participant_not_authorized", "The identity is unknown, or the caller has no grant for it or has not acknowledged the security obligations. Ask the operator."},
	{403, "binding_mismatch", "The token belongs to another checkout. Several such calls lock it."},
	{404, "token_not_found", "There is no such token for this participant."},
	{409, "session_ended", "The checkout session has ended. Start another checkout."},
	{409, "idempotency_conflict", "The Idempotency-Key was used with another request. Use a new key."},
	{410, "token_expired", "The token has expired. Tokenize again."},
	{410, "token_used", "The token has already been used. Tokenize again, and find out who used it."},
	{410, "token_revoked", "The token was revoked or locked, or its session ended. Tokenize again for an open checkout."},
	{422, "credential_invalid", "The credential is not accepted. Ask the buyer for another."},
	{429, "rate_limited", "Too many requests. Retry after the time in Retry-After."},
	{503, "unavailable", "Nothing could be recorded, so no credential was returned. Retry after the time in Retry-After. After a detokenize of a single-use token, the use may have been recorded."},
}

// root returns the server's address for participants.
func (c *call) root() string {
	if c.Document.PublicURL != "" {
		return strings.TrimSuffix(c.Document.PublicURL, "/")
	}
	scheme := "http"
	if c.IsTLS() {
		scheme = "https"
	}
	return scheme + "://" + string(c.Host())
}

// describe serves the specification document, as HTML to browsers and as JSON to other clients.
func (c *call) describe() error {
	s := c.specify(c.root())
	c.Response.Header.Set("Vary", "Accept")
	if !strings.Contains(string(c.Request.Header.Peek("Accept")), "text/html") {
		b, err := stable(s)
		if err != nil {
			return err
		}
		return c.public("application/json", b)
	}
	var page bytes.Buffer
	if err := documentPage.Execute(&page, s); err != nil {
		return fmt.Errorf("render document: %w", err)
	}
	c.Response.Header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	return c.public("text/html; charset=utf-8", page.Bytes())
}

//go:embed document.html
var documentHTML string

var documentPage = template.Must(template.New("document").Parse(documentHTML))

// OpenAPI returns the API description, with every operation.
func OpenAPI() []byte {
	b, err := stable(describeAll(operations()))
	if err != nil { // cannot happen, because the document contains only JSON values
		panic(err)
	}
	return b
}

func (c *call) openAPI() error {
	doc := c.description
	doc.Servers = []serverText{{c.root() + c.path, c.environment}}
	b, err := stable(doc)
	if err != nil {
		return err
	}
	return c.public("application/json", b)
}

// stable encodes JSON with the same bytes each time, because it sorts map members by name.
func stable(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	return b.Bytes(), nil
}

// public responds with a document that anyone can cache for 60 seconds, or with 304 if the client
// has the document.
func (c *call) public(contentType string, document []byte) error {
	sum := sha256.Sum256(document)
	if c.Fresh(base64.RawURLEncoding.EncodeToString(sum[:16]), "public, max-age=60") {
		return nil
	}
	c.SetContentType(contentType)
	c.Response.SetBodyRaw(document)
	return nil
}
