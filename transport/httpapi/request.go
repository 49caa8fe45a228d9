package httpapi

import (
	"bytes"
	"errors"
	"iter"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"

	"atelier/transport/wire"
)

// Exchange is one request in progress and its response. The Exchange and everything that it points
// to are valid only until its call has ended.
type Exchange struct {
	*fasthttp.RequestCtx
	// ID is the response's X-Request-Id.
	ID string

	api      *API
	endpoint *Endpoint // nil for a request without an endpoint
	call     Call
	share    wire.BodyShare // of the memory budget for bodies
	sharing  sharing
	who      who
	detached bool
}

// Alone creates an exchange outside an API, for tests of calls.
func Alone(ctx *fasthttp.RequestCtx, e Endpoint) *Exchange {
	return &Exchange{RequestCtx: ctx, endpoint: &e}
}

// who is the caller for the access log, see SetWho.
type who struct{ role, id string }

type whoKey struct{}

// SetWho sets the caller for the access log: a role and an id, but no name.
func (r *Exchange) SetWho(role, id string) {
	r.who = who{role, id}
	r.SetUserValue(whoKey{}, &r.who)
}

// Who returns the role and id of SetWho, separated by a space. It returns only the role if the id is
// empty, and "" if SetWho was not called.
func Who(ctx *fasthttp.RequestCtx) string {
	w, _ := ctx.UserValue(whoKey{}).(*who)
	switch {
	case w == nil:
		return ""
	case w.id == "":
		return w.role
	}
	return w.role + " " + w.id
}

// Operation is the name of the endpoint, for logs and metrics.
func (r *Exchange) Operation() string {
	if r.endpoint == nil {
		return "none"
	}
	return r.endpoint.Name
}

// path returns an error if a path segment is empty or badly escaped, so that Param needs no check.
func (r *Exchange) path() error {
	p := r.URI().PathOriginal()
	if bytes.Contains(p, []byte("//")) {
		return ErrNoOperation
	}
	if bytes.IndexByte(p, '%') < 0 {
		return nil
	}
	if _, err := url.PathUnescape(string(p)); err != nil {
		return ErrPath
	}
	return nil
}

// Param returns an unescaped copy of a path parameter, or "" without it. The copy can contain a slash
// that was escaped in the path.
func (r *Exchange) Param(name string) string {
	s, _ := r.UserValue(name).(string)
	s, _ = url.PathUnescape(strings.Clone(s)) // the router's string is the server's buffer
	return s
}

// Query returns a copy of a query parameter, or "" without it.
func (r *Exchange) Query(name string) string { return string(r.QueryArgs().Peek(name)) }

// Cookie returns the value of the first cookie with this name, or "" without such a cookie. It is
// valid until the call ends. The library's Cookie method parses and copies all cookies, which takes
// 4 % of the time of a small read.
func (r *Exchange) Cookie(name string) []byte {
	for value := range r.Cookies(name) {
		return value
	}
	return nil
}

// Cookies yields the values of all cookies with this name, except malformed values. They are valid
// until the call ends. A browser can send two: its ordinary cookie, and a frame's partitioned cookie.
func (r *Exchange) Cookies(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, line := range r.Request.Header.PeekAll(fasthttp.HeaderCookie) {
			for len(line) > 0 {
				var pair []byte
				pair, line, _ = bytes.Cut(line, []byte{';'})
				key, value, named := bytes.Cut(pair, []byte{'='})
				if !named || string(bytes.Trim(key, " ")) != name {
					continue
				}
				if value = unquoted(bytes.Trim(value, " ")); !bytes.ContainsAny(value, `"\`) && !yield(value) {
					return
				}
			}
		}
	}
}

// Framed reports whether the request comes from a page in a frame of another site. The app marks
// such requests with the header X-Framed. WebSocket and EventSource cannot send it and use the
// parameter framed.
func (r *Exchange) Framed() bool {
	return string(r.Request.Header.Peek("X-Framed")) == "1" || string(r.QueryArgs().Peek("framed")) == "1"
}

// unquoted removes the quotes around the value of a cookie (RFC 6265, 4.1.1).
func unquoted(b []byte) []byte {
	if len(b) > 1 && b[0] == '"' && b[len(b)-1] == '"' {
		return b[1 : len(b)-1]
	}
	return b
}

// plain returns an error if the body has a Content-Encoding that the endpoint does not accept.
func (r *Exchange) plain() error {
	if n := r.Request.Header.ContentLength(); n <= 0 && n != -1 { // -1: chunked
		return nil
	}
	if e := r.coding(); len(e) > 0 && !bytes.EqualFold(e, []byte("identity")) && !(r.endpoint.Gzip && r.Gzipped()) {
		return ErrEncoding
	}
	return nil
}

func (r *Exchange) coding() []byte { return bytes.TrimSpace(r.Request.Header.Peek("Content-Encoding")) }

// Gzipped reports whether the body is compressed with gzip.
func (r *Exchange) Gzipped() bool { return bytes.EqualFold(r.coding(), []byte("gzip")) }

// Type reports whether the body has this media type, or none.
func (r *Exchange) Type(want string) bool {
	ct, _, _ := bytes.Cut(r.Request.Header.ContentType(), []byte{';'})
	ct = bytes.TrimSpace(ct)
	return len(ct) == 0 || bytes.EqualFold(ct, []byte(want))
}

// Body returns a JSON body of at most the endpoint's limit. It is valid until the call ends.
func (r *Exchange) Body() ([]byte, error) {
	if !r.Type("application/json") {
		return nil, ErrMediaType
	}
	return r.Read(r.endpoint.Body)
}

// SecretBody does the same as Body for a body with secrets. The caller must wipe the result.
func (r *Exchange) SecretBody() ([]byte, error) {
	if !r.Type("application/json") {
		return nil, ErrMediaType
	}
	return r.ReadSecret(r.endpoint.Body)
}

// Read returns a body of any type and at most limit bytes. It returns ErrTooLarge for a larger body,
// ErrBusy if the memory budget for bodies is used up, and ErrBroken if the body is incomplete.
func (r *Exchange) Read(limit int) ([]byte, error) {
	return readable(wire.ReadBody(r.RequestCtx, limit, &r.share))
}

// ReadSecret does the same as Read for a body with secrets, see wire.ReadSecretBody. The caller must
// wipe the result.
func (r *Exchange) ReadSecret(limit int) ([]byte, error) {
	return readable(wire.ReadSecretBody(r.RequestCtx, limit, &r.share))
}

func readable(b []byte, err error) ([]byte, error) {
	switch {
	case errors.Is(err, wire.ErrTooLarge):
		return b, ErrTooLarge
	case errors.Is(err, wire.ErrBusy):
		return b, ErrBusy
	case err != nil:
		return b, ErrBroken
	}
	return b, nil
}

// Answer responds 200 with encoded JSON.
func (r *Exchange) Answer(b []byte) error {
	r.SetContentType("application/json")
	r.Response.SetBodyRaw(b)
	return nil
}

// JSON responds 200 with a value.
func (r *Exchange) JSON(v any) error {
	b, err := wire.Codec.Marshal(v)
	if err != nil {
		return err
	}
	return r.Answer(b)
}

// NoContent responds 204.
func (r *Exchange) NoContent() error {
	r.SetStatusCode(fasthttp.StatusNoContent)
	return nil
}

func encode(v any) []byte {
	b, err := wire.Codec.Marshal(v)
	if err != nil { // the errors of this package can always be encoded
		panic("encode an error: " + err.Error())
	}
	return b
}
