package handler

import (
	"reflect"

	"atelier/actors/participant"
	"atelier/transport/describe"
)

// operation is one API operation. The routes, the specification document and the OpenAPI document
// are generated from it.
type operation struct {
	Method, Path string // Path is relative to the base
	Name         string // in metrics
	Handle       func(*call) error
	Offered      func(*base) bool // nil if it is always offered
	Open         bool             // needs no bearer
	Scope        string           // required of the bearer, or ""
	Line         string           // the line in the specification document, or "" if the document does not list it

	ID, Tag, Summary, About string
	Parameters              []describe.Parameter
	Takes                   *content // the body, or nil
	Optional                bool     // the body can be omitted
	Gives                   answer
	Refuses                 []int          // in addition to those implied by the members above
	Descriptions            map[int]string // replaces usual
}

// content is a body: a value of a schema in a media type.
type content struct {
	Media  string
	Schema *describe.Schema
	About  string
}

// answer is the response of a successful operation. Without bodies its status is 204.
type answer struct {
	About  string
	Bodies []content
	Tagged bool // has an ETag, so the answer can be 304
}

const jsonType, keyType = "application/json", "application/jwk+json"

func takes(component string) *content {
	return &content{Media: jsonType, Schema: describe.Ref(component)}
}

func gives(about, media string, s *describe.Schema) answer {
	return answer{About: about, Bodies: []content{{Media: media, Schema: s}}}
}

var (
	done      = answer{About: "done"}
	text      = &describe.Schema{Type: "string"}
	ifChanged = describe.Parameter{Name: "If-None-Match", In: "header", Description: "The ETag of the client's copy.", Schema: text}
)

const (
	onBehalf = "Scope detokenize; on behalf of another participant also the caller's acknowledgement."
	keyScope = "insufficient_scope, participant_not_authorized"
)

// publishKey is the operation at PUT, and at POST for clients that cannot send PUT.
func publishKey() operation {
	return operation{
		Method: "PUT", Path: "/keys", Name: "key_put", Handle: (*call).putKey, Scope: participant.ScopeDetokenize,
		Line: "Publishes the caller's encryption key (JWK).",
		ID:   "publishKey", Tag: "keys", Summary: "Publish the caller's encryption key",
		About:        "Scope detokenize, and the caller's acknowledgement, because the owner of the key can read everything that is encrypted from now on. A public JWK: EC (P-256, P-384 or P-521), or RSA of 2048 to 8192 bits with an odd exponent of 3 or more. A key with any private member is refused.",
		Takes:        &content{Media: jsonType, Schema: describe.Ref("JWK"), About: "Also as application/jwk+json."},
		Gives:        gives("the key as it is published", keyType, describe.Ref("JWK")),
		Descriptions: map[int]string{403: keyScope},
	}
}

// operations returns the operations, in the order of the specification document.
func operations() []operation {
	return []operation{
		{
			Method: "POST", Path: "/tokenize", Name: "tokenize", Handle: (*call).tokenize, Scope: participant.ScopeTokenize,
			Offered: func(b *base) bool { return b.Tokenize },
			Line:    "Turns a credential into a token that is bound to a checkout and a participant.",
			ID:      "tokenize", Tag: "operations", Summary: "Turn a credential into a token",
			About: "Scope tokenize. The token is bound to the checkout and to the participant that identity names, else the caller. It is on disk before the response is sent. The policy is the bound participant's.",
			Parameters: []describe.Parameter{{
				Name: "Idempotency-Key", In: "header",
				Description: "The same caller, key and body get the same token while it lives; another body is idempotency_conflict for as long. Once the token has ended, the key is free.",
				Schema:      &describe.Schema{Type: "string", MinLength: minIdempotencyKey, MaxLength: maxIdempotencyKey},
			}},
			Takes: takes("TokenizeRequest"), Gives: gives("success", jsonType, describe.Ref("Token")), Refuses: []int{409, 422},
		},
		{
			Method: "POST", Path: "/detokenize", Name: "detokenize", Handle: (*call).detokenize, Scope: participant.ScopeDetokenize,
			Offered: func(b *base) bool { return b.Detokenize },
			Line:    "Returns the credential to the bound participant, or to a participant that has its grant.",
			ID:      "detokenize", Tag: "operations", Summary: "Turn a token back into its credential",
			About: "Scope detokenize, and the caller's acknowledgement. The use and its audit record are on disk before the answer. At most once under single_use: if the response is lost, the credential is not returned again.",
			Takes: takes("UseRequest"), Gives: gives("the credential as it was given", jsonType, describe.Ref("Credential")), Refuses: []int{404, 410},
		},
		{
			Method: "POST", Path: "/introspect", Name: "introspect", Handle: (*call).introspect, Scope: participant.ScopeDetokenize,
			Line: "Returns policy, state and expiry of a token, and type, brand and last four digits of its credential. Does not count as a use.",
			ID:   "introspect", Tag: "operations", Summary: "Get the state of a token",
			About: onBehalf + " Does not count as a use. Also answers for tokens that have ended.",
			Takes: takes("UseRequest"), Gives: gives("success", jsonType, describe.Ref("Introspection")), Refuses: []int{404},
		},
		{
			Method: "POST", Path: "/revoke", Name: "revoke", Handle: (*call).revoke, Scope: participant.ScopeDetokenize,
			Line: "Ends a token.",
			ID:   "revoke", Tag: "operations", Summary: "End a token",
			About: onBehalf + " Revoking a token that has ended is not an error.",
			Takes: takes("UseRequest"), Gives: done, Refuses: []int{404},
		},
		{
			Method: "POST", Path: "/sessions/{checkout_id}/end", Name: "session_end", Handle: (*call).endSession, Scope: participant.ScopeDetokenize,
			Line: "Ends a checkout session and all its tokens permanently.",
			ID:   "endSession", Tag: "operations", Summary: "End a checkout session and all its tokens",
			About:      "Scope detokenize. The session cannot be reopened: tokenize for it returns session_ended. Ending it again is not an error. A delegate names the participant in the body.",
			Parameters: []describe.Parameter{{Name: "checkout_id", In: "path", Required: true, Schema: &describe.Schema{Type: "string", MinLength: 1, MaxLength: maxCheckout}}},
			Takes:      takes("EndRequest"), Optional: true, Gives: done,
		},
		{
			Method: "GET", Path: "/events", Name: "events", Handle: (*call).events,
			Line: "Lists what was done with the caller's tokens, and security events, newest first.",
			ID:   "listEvents", Tag: "operations", Summary: "The caller's own log",
			About: "Operations of anybody on tokens that are bound to the caller, the caller's operations on tokens of others, and security events. Newest first, kept as long as the operator's audit log. Any scope is enough. Operations from before the server had this log are missing.",
			Parameters: []describe.Parameter{
				{Name: "limit", In: "query", Description: "The maximum number of events.", Schema: &describe.Schema{Type: "integer", Minimum: 1, Maximum: maxEventsPage, Default: eventsPage}},
				{Name: "before", In: "query", Description: "The id of an event: only older ones, for the next page.", Schema: &describe.Schema{Type: "string", Format: "uuid"}},
			},
			Gives:        gives("success", jsonType, &describe.Schema{Type: "array", Items: describe.Ref("Event")}),
			Refuses:      []int{400},
			Descriptions: map[int]string{400: "invalid_request: limit or before is malformed", 503: "unavailable: the log cannot be read now"},
		},
		{
			Method: "POST", Path: "/oauth/token", Name: "oauth_token", Handle: (*call).accessToken, Open: true,
			Line: "Issues an access token to an OAuth 2.0 client.",
			ID:   "accessToken", Tag: "oauth", Summary: "Access token for an OAuth 2.0 client",
			About:   "RFC 6749, section 4.4. The client authenticates in the form or by HTTP Basic.",
			Takes:   &content{Media: "application/x-www-form-urlencoded", Schema: describe.Body(components, reflect.TypeFor[oauthForm]())},
			Gives:   gives("success", jsonType, describe.Ref("AccessToken")),
			Refuses: []int{401, 429, 503},
			Descriptions: map[int]string{
				400: "invalid_request, unsupported_grant_type, invalid_scope", 401: "invalid_client",
				415: "invalid_request: the body is not a form",
			},
		},
		publishKey(),
		{
			Method: "DELETE", Path: "/keys", Name: "key_delete", Handle: (*call).deleteKey, Scope: participant.ScopeDetokenize,
			Line: "Withdraws the caller's encryption key.",
			ID:   "withdrawKey", Tag: "keys", Summary: "Withdraw the caller's encryption key",
			About: "Scope detokenize, and the caller's acknowledgement.",
			Gives: done, Descriptions: map[int]string{403: keyScope},
		},
		{
			Method: "GET", Path: "/keys/{identity}", Name: "key_get", Handle: (*call).getKey, Open: true,
			Line: "Returns the encryption key that a participant published.",
			ID:   "getKey", Tag: "keys", Summary: "The encryption key that a participant published",
			About:      "Needs no bearer. The key is a public JWK; Cache-Control says for how long it may be kept.",
			Parameters: []describe.Parameter{{Name: "identity", In: "path", Required: true, Schema: text}},
			Gives:      gives("the key", keyType, describe.Ref("JWK")),
			Refuses:    []int{404, 503}, Descriptions: map[int]string{404: "not_found"},
		},
		byPost(publishKey()),
		{
			Method: "GET", Path: "", Name: "document", Handle: (*call).describe, Open: true,
			ID: "describe", Tag: "documents", Summary: "The specification document of the handler",
			About:      "JSON, or HTML when Accept asks for it.",
			Parameters: []describe.Parameter{ifChanged},
			Gives:      answer{About: "the document", Bodies: []content{{Media: jsonType, Schema: describe.Ref("Document")}, {Media: "text/html", Schema: text}}, Tagged: true},
		},
		{
			Method: "GET", Path: "/openapi.json", Name: "openapi", Handle: (*call).openAPI, Open: true,
			ID: "openAPI", Tag: "documents", Summary: "This description",
			About:      "The operations that this handler offers, at the address of the request.",
			Parameters: []describe.Parameter{ifChanged},
			Gives:      answer{About: "OpenAPI 3.1", Bodies: []content{{Media: jsonType, Schema: &describe.Schema{Type: "object"}}}, Tagged: true},
		},
	}
}

// byPost returns the operation at POST, which the specification document does not list.
func byPost(op operation) operation {
	op.Method, op.ID, op.Line = "POST", op.ID+"ByPost", ""
	return op
}
