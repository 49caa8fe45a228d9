package handler

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"atelier/actors/token/credential"
	"atelier/transport/describe"
	"atelier/transport/httpapi"
)

// description is an OpenAPI document.
type description struct {
	OpenAPI    string                                   `json:"openapi"`
	Info       info                                     `json:"info"`
	Servers    []serverText                             `json:"servers,omitempty"`
	Tags       []tag                                    `json:"tags"`
	Paths      map[string]map[string]describedOperation `json:"paths"` // by path and method
	Components describedComponents                      `json:"components"`
}

type info struct {
	Title       string            `json:"title"`
	Version     string            `json:"version"`
	License     map[string]string `json:"license"`
	Description string            `json:"description"`
}

type serverText struct {
	URL   string `json:"url"`
	About string `json:"description"`
}

type tag struct {
	Name  string `json:"name"`
	About string `json:"description"`
}

type describedOperation struct {
	ID          string                   `json:"operationId"`
	Tags        []string                 `json:"tags"`
	Summary     string                   `json:"summary"`
	Description string                   `json:"description"`
	Security    []map[string][]string    `json:"security"`
	Parameters  []describe.Parameter     `json:"parameters,omitempty"`
	RequestBody *describedBody           `json:"requestBody,omitempty"`
	Responses   map[string]describedBody `json:"responses"` // by status
}

// describedBody is the body of a request, or a response.
type describedBody struct {
	Required    *bool                       `json:"required,omitempty"`
	Description string                      `json:"description,omitempty"`
	Headers     map[string]describedHeader  `json:"headers,omitempty"`
	Content     map[string]describedContent `json:"content,omitempty"` // by media type
}

type describedHeader struct {
	Ref         string           `json:"$ref,omitempty"`
	Description string           `json:"description,omitempty"`
	Required    bool             `json:"required,omitempty"`
	Schema      *describe.Schema `json:"schema,omitempty"`
}

type describedContent struct {
	Schema *describe.Schema `json:"schema"`
}

type describedComponents struct {
	Schemas         map[string]*describe.Schema `json:"schemas"`
	SecuritySchemes map[string]any              `json:"securitySchemes"`
	Headers         map[string]describedHeader  `json:"headers"`
}

// usual is the usual meaning of a refusal's status.
var usual = map[int]string{
	400: "invalid_request: malformed JSON, or a field is missing or of the wrong type",
	401: "unauthorized: no valid bearer token",
	403: "insufficient_scope, participant_not_authorized, binding_mismatch",
	404: "token_not_found: an unknown token, or another participant's token",
	409: "session_ended, idempotency_conflict",
	410: "token_expired, token_used, token_revoked",
	413: "invalid_request: the body is too large",
	415: "invalid_request: the body is not JSON",
	422: "credential_invalid",
	429: "rate_limited",
	503: "unavailable: nothing could be recorded",
}

// refusals returns the statuses with which an operation can refuse.
func (op *operation) refusals() []int {
	statuses := slices.Clone(op.Refuses)
	if op.Takes != nil {
		statuses = append(statuses, 400, 413, 415)
	}
	if !op.Open {
		statuses = append(statuses, 401, 429, 503)
	}
	if op.Scope != "" {
		statuses = append(statuses, 403)
	}
	return statuses
}

var (
	requestID = describedHeader{Ref: "#/components/headers/X-Request-Id"}
	etag      = describedHeader{Description: "Changes with the document.", Required: true, Schema: text}
)

// headersOf returns the headers of a response with a status. tagged adds the entity tag.
func headersOf(status int, tagged bool) map[string]describedHeader {
	h := map[string]describedHeader{"X-Request-Id": requestID}
	switch {
	case status == 401:
		h["WWW-Authenticate"] = describedHeader{Schema: text}
	case status == 429, status == 503:
		h["Retry-After"] = describedHeader{Schema: &describe.Schema{Type: "integer"}}
	case tagged:
		h["ETag"] = etag
	}
	return h
}

// describe returns the OpenAPI description of an operation.
func (op *operation) describe() describedOperation {
	d := describedOperation{
		ID: op.ID, Tags: []string{op.Tag}, Summary: op.Summary, Description: op.About,
		Security: []map[string][]string{}, Parameters: op.Parameters, Responses: map[string]describedBody{},
	}
	if !op.Open {
		d.Security = []map[string][]string{{"apiKey": {}}, {"oauth": {}}}
	}
	if op.Takes != nil {
		required := !op.Optional
		d.RequestBody = &describedBody{Required: &required, Description: op.Takes.About, Content: contents(*op.Takes)}
	}
	status := 200
	if len(op.Gives.Bodies) == 0 {
		status = 204
	}
	d.Responses[strconv.Itoa(status)] = describedBody{Description: op.Gives.About, Headers: headersOf(status, op.Gives.Tagged), Content: contents(op.Gives.Bodies...)}
	if op.Gives.Tagged {
		d.Responses["304"] = describedBody{Description: "the client has the current version", Headers: headersOf(304, true)}
	}
	for _, status := range op.refusals() {
		about, other := op.Descriptions[status]
		if !other {
			about = usual[status]
		}
		schema := describe.Ref("Error")
		if op.Tag == "oauth" && (status == 400 || status == 401) {
			schema = describe.Ref("OAuthError")
		}
		d.Responses[strconv.Itoa(status)] = describedBody{Description: about, Headers: headersOf(status, false), Content: contents(content{Media: jsonType, Schema: schema})}
	}
	return d
}

func contents(bodies ...content) map[string]describedContent {
	if len(bodies) == 0 {
		return nil
	}
	out := map[string]describedContent{}
	for _, b := range bodies {
		out[b.Media] = describedContent{b.Schema}
	}
	return out
}

// vocabulary maps component names to the types that have their members.
type vocabulary map[string]reflect.Type

// components lists the API's named objects. A Credential is stored and returned as it was sent, and
// the members of a JWK depend on its type. Both can therefore have additional members.
var components = vocabulary{
	"AccessToken":     reflect.TypeFor[accessToken](),
	"Binding":         reflect.TypeFor[binding](),
	"Card":            credential.CardType,
	"Credential":      reflect.TypeFor[anyCredential](),
	"Document":        reflect.TypeFor[specification](),
	"EndRequest":      reflect.TypeFor[endBody](),
	"Error":           reflect.TypeFor[problem](),
	"Event":           reflect.TypeFor[ownEvent](),
	"Identity":        reflect.TypeFor[identity](),
	"Introspection":   reflect.TypeFor[introspection](),
	"JWK":             reflect.TypeFor[anyKey](),
	"OAuthError":      reflect.TypeFor[oauthProblem](),
	"Token":           reflect.TypeFor[newToken](),
	"TokenizeRequest": reflect.TypeFor[tokenizeBody](),
	"UseRequest":      reflect.TypeFor[useBody](),
}

// sent lists the components that clients send.
var sent = []string{"Binding", "Card", "EndRequest", "Identity", "TokenizeRequest", "UseRequest"}

// Named implements describe.Vocabulary.
func (v vocabulary) Named(name string) (*describe.Schema, bool) {
	switch {
	case name == "event":
		return eventType, false
	case v[name] == nil:
		panic("no component has the name " + name)
	}
	return nil, true
}

// Component implements describe.Vocabulary.
func (v vocabulary) Component(t reflect.Type) string {
	for name, of := range v {
		if of == t {
			return name
		}
	}
	return ""
}

// Siblings implements describe.Vocabulary.
func (v vocabulary) Siblings() bool { return true }

// anyCredential has the member common to all credentials.
type anyCredential struct {
	Type string `json:"type"`
}

// anyKey has the member common to all JWKs.
type anyKey struct {
	Type string `json:"kty" enum:"EC|RSA"`
}

// oauthForm is the form of the token endpoint (RFC 6749, section 4.4.2).
type oauthForm struct {
	Grant        string `json:"grant_type" const:"client_credentials"`
	ClientID     string `json:"client_id" optional:"true"`
	ClientSecret string `json:"client_secret" optional:"true"`
	Scope        string `json:"scope" optional:"true"`
}

// schemas returns the schemas of the components.
func (v vocabulary) schemas() map[string]*describe.Schema {
	out := map[string]*describe.Schema{}
	for name, t := range v {
		if slices.Contains(sent, name) {
			out[name] = describe.Body(v, t)
		} else {
			out[name] = describe.Of(v, t, name == "JWK" || name == "Credential")
		}
	}
	for _, p := range out["Error"].Properties {
		switch s := p.Value.(*describe.Schema); p.Name {
		case "code":
			s.Enum = codes()
		case "content":
			s.MinLength = 1
		}
	}
	c := out["Credential"]
	c.Description = "card, pan, network_token, or a type that the specification document names. Kept and returned as it was given, unknown members included; at most 16 KiB."
	c.If = &describe.Schema{Properties: describe.Object{{Name: "type", Value: &describe.Schema{Type: "string", Const: "card"}}}}
	c.Then = describe.Ref("Card")
	e := out["Event"]
	e.Description = "A line of a participant's own log."
	last, checkout, policy := "x_9Q", "chk_1", "single_use"
	e.Examples = []any{ownEvent{
		"019a3f65-6d4e-7b99-8f10-2b3c4d5e6f07", "2026-01-23T09:00:00.000Z", "token_detokenize", &last, &checkout, &policy,
		"019a3f65-6d4e-7b99-8f10-2b3c4d5e6f01",
	}}
	return out
}

// codes returns the refusal codes: the codes in the table, and those for unknown paths and methods.
func codes() (all []any) {
	for _, e := range errorTable {
		all = append(all, e.Code)
	}
	return append(all, httpapi.ErrNoOperation.Code, httpapi.ErrMethod.Code)
}

// describeAll returns the description of operations.
func describeAll(ops []operation) description {
	d := description{
		OpenAPI: "3.1.0",
		Info: info{
			Title: "Atelier tokenization handler", Version: "1", License: map[string]string{"name": "MIT", "identifier": "MIT"},
			Description: "Converts credentials into tokens that are bound to one checkout and one participant, and back. Tokens are 256 random bits; production and sandbox share nothing. Every error is {code, content}. A request is checked in this order: bearer, rate, scope, shape, the participant that it acts for, and only then the token.",
		},
		Tags: []tag{
			{"documents", "The handler's specification document, and this description."},
			{"operations", "Tokens and checkout sessions."},
			{"oauth", "Access tokens of OAuth 2.0 clients."},
			{"keys", "Encryption keys that participants publish."},
		},
		Paths: map[string]map[string]describedOperation{},
		Components: describedComponents{
			Schemas: components.schemas(),
			SecuritySchemes: map[string]any{
				"apiKey": map[string]any{"type": "http", "scheme": "bearer", "description": "The secret of an API key."},
				"oauth": map[string]any{"type": "oauth2", "flows": map[string]any{"clientCredentials": map[string]any{
					"tokenUrl": "oauth/token", "scopes": map[string]string{
						"tokenize": "make tokens", "detokenize": "read, introspect and revoke tokens, end sessions",
					},
				}}},
			},
			Headers: map[string]describedHeader{"X-Request-Id": {Description: "Names the request in the server's log.", Required: true, Schema: text}},
		},
	}
	for _, op := range ops {
		path := op.Path
		if path == "" {
			path = "/"
		}
		if d.Paths[path] == nil {
			d.Paths[path] = map[string]describedOperation{}
		}
		d.Paths[path][strings.ToLower(op.Method)] = op.describe()
	}
	return d
}
